"""Rules for capacity: how it is bought, named and placed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from ultracluster_catalog.capacity.capacity_blocks import LONGEST_BLOCK, block_durations, is_block_duration
from ultracluster_catalog.limits.queues import MOST_NODES
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import RESERVATION_ID, RESOURCE_GROUP_ARN
from ultracluster_rules.findings import Finding, quote, require
from ultracluster_rules.record import RuleRecord
from ultracluster_rules.values import Between, Form


def _explain_reservation(value: str) -> str:
    if value.startswith("cb-"):
        return "cb- is an offering or a block; use its Capacity Reservation, cr-"
    if value.startswith("cbr-"):
        return "cbr- is a Capacity Block ID; use the ID of its Capacity Reservation, cr-"
    if value.startswith("arn:"):
        return "Use only the part of the ARN after the slash"
    if re.fullmatch(r"cr-[0-9a-f]{8}", value):
        return "This ID has 8 hexadecimal digits"
    return "Run `aws ec2 describe-capacity-reservations` to find the ID"


UTC_TIME: Final = "UC4111"
"""Code of a time that is not in UTC."""

SETTING_OF_ANOTHER_KIND: Final = "UC4126"
"""Code of a setting that this kind of capacity does not have."""

MAX_NODES: Final = Between(code="UC4101", least=1, most=MOST_NODES)
"""Maximum number of nodes at one time."""

MAX_PRICE_PERCENT: Final = Between(code="UC4125", least=1, most=100)
"""Maximum price of a Spot node in percent of the on-demand price."""

CHECKPOINT_LEAD_MINUTES: Final = Between(
    code="UC4117", least=0, most=720, remedy="Specify minutes before the drain"
)
"""Minutes between the checkpoint request and the drain of a Capacity Block."""

MAX_REFUSALS: Final = Between(code="UC4129", least=1, most=100)
"""Number of nodes that refuse to join a Capacity Block one after another before it is closed."""

RESERVATION: Final = Form(
    code="UC4109",
    pattern=RESERVATION_ID,
    allowed="cr- and 17 hexadecimal digits in lower case, such as cr-0123456789abcdef0",
    explain=_explain_reservation,
)
"""A reservation is named by its ID."""

RESOURCE_GROUP: Final = Form(
    code="UC4124",
    pattern=RESOURCE_GROUP_ARN,
    allowed="an ARN such as arn:aws:resource-groups:us-east-2:123456789012:group/training",
)
"""A group of reservations is named by its ARN."""


AllocationStrategy = Literal[
    "best-fit", "best-fit-progressive", "capacity-optimized", "price-capacity-optimized"
]
"""How AWS Batch chooses the nodes to start."""

ALLOCATION_STRATEGIES: Final[Mapping[str, tuple[AllocationStrategy, ...]]] = {
    "capacity-block": ("best-fit", "best-fit-progressive"),
    "on-demand": ("best-fit-progressive", "best-fit"),
    "spot": ("price-capacity-optimized", "capacity-optimized"),
}
"""Allocation strategies of AWS Batch by market type, the default first.

Capacity Blocks: every published environment has BEST_FIT, explicitly or by AWS Batch's default (awslabs/awsome-distributed-ai
for p5 and p6, 2025-11; aws-samples/sample-aws-batch-capacity-block-reservations), and the launch template of such an
environment cannot be updated in place (AWS Batch User Guide, infrastructure updates, read 2026-11). On-demand nodes keep
in-place updates. BEST_FIT for Spot would need a Spot Fleet role.
"""


def check_allocation_strategy(market_type: str, strategy: str, *, path: str) -> list[Finding]:
    """Check whether AWS Batch can choose nodes of a market type with an allocation strategy (UC4131)."""
    allowed = ALLOCATION_STRATEGIES[market_type]
    return require(
        strategy in allowed,
        "UC4131",
        f"got {quote(strategy)} for {market_type}",
        allowed=" or ".join(allowed),
        path=path,
    )


def check_group_settings(
    launched_by: str, market_type: str, strategy: str | None, max_price_percent: int | None
) -> list[Finding]:
    """Check that a source has no settings of AWS Batch if an Auto Scaling group starts its nodes (UC4126)."""
    if launched_by == "batch":
        return []
    unused = {
        "allocation_strategy": strategy not in {None, ALLOCATION_STRATEGIES[market_type][0]},
        "max_price_percent": max_price_percent is not None,
    }
    return [
        Finding(
            SETTING_OF_ANOTHER_KIND,
            f"{name} is of AWS Batch, and an Auto Scaling group starts these nodes",
            remedy="Leave it out",
            path=name,
        )
        for name, is_set in unused.items()
        if is_set
    ]


def check_max_nodes(count: int | None, *, path: str) -> list[Finding]:
    """Check the maximum number of nodes of a queue, None or 0 if nothing limits them (UC4101)."""
    if count:
        return MAX_NODES.check(count, path=path)
    return [
        replace(finding, problem="the maximum number of nodes is not set")
        for finding in MAX_NODES.check(0, path=path)
    ]


def check_purchase_option(machine: InstanceType, option: str) -> list[Finding]:
    """Check whether an instance type has a purchase option (UC4104)."""
    return require(
        option in machine.purchase_options,
        "UC4104",
        f"{machine.name} is not sold as {option}",
        allowed=f"for this type: {', '.join(sorted(machine.purchase_options))}",
        remedy="Choose another market_type or another instance_type",
    )


def check_block_placement(*, block: bool, placed: bool) -> list[Finding]:
    """Check that nodes of a Capacity Block are launched outside placement groups (UC4020)."""
    return require(
        not (block and placed),
        "UC4020",
        "got a placement group and a Capacity Block; EC2 does not support them together",
        remedy="Remove placement; nodes of a block are already close together",
    )


def check_window(start: datetime | None, end: datetime | None) -> list[Finding]:
    """Check that capacity starts before it ends (UC4112), in times with a UTC offset (UC4111); None if not known."""
    if any(time is not None and time.tzinfo is None for time in (start, end)):
        problem = "start or end has no UTC offset"
        return [Finding(UTC_TIME, problem, remedy="Use datetime(..., tzinfo=UTC)")]
    if start is None or end is None:
        return []
    return require(
        start < end,
        "UC4112",
        f"the end, {end.isoformat()}, is not after the start, {start.isoformat()}",
        remedy="Take both from `ultracluster capacity status`",
    )


def check_source_names(names: Sequence[str | None]) -> Iterator[tuple[int, Finding]]:
    """Find sources of a cluster by index that have the name of an earlier one (UC4121); None for no name."""
    for index, name in enumerate(names):
        if name in names[:index]:
            problem = f"two sources are called {quote(name)}" if name else "two sources have no name"
            remedy = "Use a different name for each source; the first one needs none"
            yield index, Finding("UC4121", problem, remedy=remedy)


def check_targets(targets: Sequence[str | None]) -> Iterator[tuple[int, Finding]]:
    """Find sources of a cluster by index that launch into the reservation of an earlier one (UC4127)."""
    for index, target in enumerate(targets):
        if target is not None and target in targets[:index]:
            problem = f"duplicate capacity {target}"
            remedy = "List it once: each source launches its maximum number of nodes into it"
            yield index, Finding("UC4127", problem, remedy=remedy)


def check_block_duration(hours: int) -> list[Finding]:
    """Check whether AWS sells Capacity Blocks of a duration (UC7101, with the nearest ones)."""
    if is_block_duration(hours):
        return []
    sold = block_durations(min_hours=0, max_hours=LONGEST_BLOCK // timedelta(hours=1))
    shorter = [duration for duration in sold if duration < hours][-1:]
    longer = [duration for duration in sold if duration > hours][:1]
    nearest = " and ".join(f"{duration} hours" for duration in shorter + longer)
    return [
        Finding(
            "UC7101",
            f"got {quote(hours)} hours",
            allowed="1 to 14 days in whole days (24 to 336 hours), or 21 to 182 days in whole weeks",
            remedy=f"Nearest valid durations: {nearest}.",
        )
    ]


RECORDS: Final = (
    RuleRecord(
        "UC4020",
        "Nodes of a Capacity Block have no placement group.",
        remedy="Leave `placement` out: auto gives a group to on-demand nodes and none to those of a block, which are close together already.",
        source="EC2 user guide, Capacity Blocks for ML, considerations, 2026-10: placement groups are not supported. Batch's page on EFA says otherwise; we follow EC2.",
        example="network: {placement: auto}",
        in_templates=True,
        never_left_out=True,
    ),
    RuleRecord(
        "UC4101",
        "The number of nodes is 1 to 1,000.",
        remedy="Specify 1 to 1,000 nodes. It is the maximum size of the compute environment; none runs before a job needs it.",
        source="AWS Batch user guide, multi-node parallel jobs, 2026-10: a job has up to 1,000 nodes.",
        example="nodes: 4",
    ),
    RuleRecord(
        "UC4104",
        "An instance type is sold with the market type that the cluster uses.",
        remedy="Choose a market_type that the finding lists for this type, or another type.",
        source="DescribeInstanceTypes, SupportedUsageClasses, as moto 5.2.5 ships it, about 2026-08.",
        in_templates=True,
    ),
    RuleRecord(
        "UC4109",
        "A Capacity Reservation is specified by its ID.",
        remedy="Specify the ID that begins with cr-. cb- is an offering, cbr- a block; `ultracluster capacity status` prints the reservation of a purchase.",
        source="botocore 1.44.5, EC2 CapacityReservation, 2026.",
        example="capacity: {reservation_id: cr-0123456789abcdef0}",
        in_templates=True,
    ),
    RuleRecord(
        "UC4111",
        "A time is ISO 8601 in UTC.",
        remedy="Convert it to UTC, write T between day and time, and Z at the end.",
        source="Our decision: Capacity Blocks start and end by UTC, and local times move with summer time.",
        example='capacity: {reservation_id: cr-0123456789abcdef0, end: "2026-12-04T11:30:00Z"}',
    ),
    RuleRecord(
        "UC4112",
        "Capacity starts before it ends.",
        remedy="Use the StartDate and EndDate of the reservation.",
        source="Our decision: the queue is opened at the start and drained before the end.",
        example='capacity: {reservation_id: cr-0123456789abcdef0, start: "2026-12-01T11:30:00Z", end: "2026-12-04T11:30:00Z"}',
    ),
    RuleRecord(
        "UC4117",
        "Jobs are notified to write a checkpoint at most 12 hours before the drain.",
        remedy="Specify 0 to 12 hours. Jobs continue after they are notified, so the lead must only be longer than a checkpoint takes.",
        source="Our decision: a block lasts a day or more, and jobs that start after the word would not get it.",
        example='BlockLifecycle(stack, "Life", queue=queue, block=block, checkpoint_lead=cdk.Duration.hours(12))',
    ),
    RuleRecord(
        "UC4121",
        "The sources of a cluster have different names, and at most one of them has none.",
        remedy="Use a different name for each source; the first one is called capacity.",
        source="Our decision: the name is part of ids, and queues name their sources.",
    ),
    RuleRecord(
        "UC4124",
        "A resource group of reservations is specified by its ARN.",
        remedy="Specify the ARN of the group; `aws resource-groups list-groups` shows it.",
        source="botocore 1.44.5, EC2 CapacityReservationTarget, 2026.",
    ),
    RuleRecord(
        "UC4125",
        "The price limit of Spot nodes is 1 to 100 percent of the on-demand price.",
        remedy="Specify 1 to 100 percent of the on-demand price; omit it for 100.",
        source="botocore 1.44.5, Batch ComputeResource bidPercentage, 2026.",
    ),
    RuleRecord(
        "UC4126",
        "A setting is used only with a kind of capacity that supports it.",
        remedy="Leave the setting out, or choose the market_type that the finding names for it.",
        source="Our decision: a setting without effect would look as if it protected something.",
    ),
    RuleRecord(
        "UC4127",
        "A reservation is used by only one source of a cluster.",
        remedy="List the reservation once: each source launches its maximum number of nodes into it.",
        source="Our decision: twice the nodes would be asked of one reservation, and half of them never start.",
    ),
    RuleRecord(
        "UC4129",
        "A Capacity Block is closed after 1 to 100 consecutive nodes have refused to join.",
        remedy="Set max_refusals from 1 to 100; each refusal costs the minutes of one boot.",
        source="Our decision: a bad image would otherwise launch nodes until the block ends (Batch scales up again after each).",
        example='BlockLifecycle(stack, "Life", queue=queue, block=block, max_refusals=5)',
    ),
    RuleRecord(
        "UC4131",
        "An allocation strategy fits the kind of capacity.",
        remedy="Leave it out: the default is the strategy of published environments.",
        source="AWS Batch user guide, allocation strategies.",
        in_templates=True,
    ),
    RuleRecord(
        "UC7101",
        "AWS sells Capacity Blocks of the duration.",
        remedy="Use the nearest valid duration in the finding: whole days up to 14, then whole weeks up to 182 days.",
        source="botocore 1.44.5, EC2 DescribeCapacityBlockOfferings, 2026.",
        example="check_block_duration(48)",
    ),
)
