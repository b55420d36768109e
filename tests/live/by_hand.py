"""Questions without a test, each with the reason why it has none, and the steps by hand."""

from tests.live.question import untested

untested(
    "L124",
    "Can an Auto Scaling group be created at desired capacity 0 with the launch template of a block that has not begun?",
    """After L31 and before the block starts: run `aws autoscaling create-auto-scaling-group` with the launch template of the block, minimum and desired capacity 0,
then set both to 1. Note what `describe-scaling-activities` reports. This is F4 in [decision 0024](../decisions/0024-auto-scaling-road.md).""",
    cost="same as L31",
    tier=2,
    reason="AWS Batch fills the one block that a run buys, and leaves no room for the nodes of a group",
)


untested(
    "L126",
    "Are the children of an older array placed before those of a newer one, also after a retry and with shares?",
    """Repeat L125 with three instances and two arrays of three, in the first of which a child fails once. Then repeat it with two shares and `unmanagedvCpus`. This is
F7 and F8 in [decision 0024](../decisions/0024-auto-scaling-road.md).""",
    cost="three small instances for minutes",
    tier=1,
    reason="a person judges the order of the children by their times",
)


untested(
    "L127",
    "How long is the place of a terminated node in a block unavailable, and how often does a group try in the meantime?",
    """During a block, with a group as in L124 at its full size: terminate one instance, and note each activity until the next one runs. Then run an array child with
all vCPUs and 0.96 of the memory on it. This is F9 and F10 in [decision 0024](../decisions/0024-auto-scaling-road.md).""",
    cost="same as L118",
    tier=3,
    reason="it needs the group of L124",
)


untested(
    "L128",
    "Does an Auto Scaling group accept a resource group of several blocks in its launch template?",
    """Put two blocks into one resource group, and name it as `CapacityReservationResourceGroupArn` in the launch template of a group. This is F11 in [decision
0024](../decisions/0024-auto-scaling-road.md).""",
    cost="two blocks",
    tier=3,
    reason="no other question needs two blocks at once",
)
