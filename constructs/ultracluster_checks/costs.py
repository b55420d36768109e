"""Avoidable costs: reservations and blocks that are paid without use, and jobs that are paid again and again."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.jobs import JOB_DEFINITION, job_containers
from ultracluster_checks.model.nodes import AUTO_SCALING_GROUP, QUEUE, nodes_of
from ultracluster_checks.model.template import Resource
from ultracluster_checks.problem import Wrong, rule
from ultracluster_spec.findings import Severity
from ultracluster_spec.record import RuleRecord

# Seconds that AWS Batch accepts, and in which a job over several nodes has loaded nothing yet.
_LEAST, _SHORTEST = 60, 600
_MANY_ATTEMPTS, _MOST_ATTEMPTS = 4, 10


@rule("UC6482", JOB_DEFINITION)
def jobs_repeat_what_is_not_their_fault(job: Resource) -> Iterator[Wrong]:
    """Find jobs on accelerators or several nodes that end before they start, or repeat their own faults."""
    own = [each for each in job_containers(job.template.templates) if each.at.resource is job]
    if not any(each.nodes != 1 or each.devices or each.instance_types for each in own):
        return
    seconds, retry = job["Timeout"]["AttemptDurationSeconds"], job["RetryStrategy"]
    several = not job["NodeProperties"].missing
    if several and seconds.number is not None and _LEAST <= seconds.number < _SHORTEST:
        yield seconds, f"got {seconds.number}: the job ends before its nodes have compiled", "hours"
    attempts, choices = retry["Attempts"], retry["EvaluateOnExit"]
    if _MANY_ATTEMPTS <= (attempts.number or 0) <= _MOST_ATTEMPTS and choices.empty:
        got = f"got {attempts.number} attempts for each failure, so that a fault of the program is paid as often"
        yield attempts, got, "EvaluateOnExit: RETRY for Host EC2*, EXIT for all else"
    for each in choices.items:
        ends = (each["Action"].text or "").upper() == "EXIT"
        if ends and (each["OnStatusReason"].text or "").startswith("Host EC2"):
            yield each["Action"], "the job ends when EC2 takes its node, and is not repeated", "RETRY"


@rule("UC6483", "AWS::EC2::CapacityReservation")
def reservations_end_and_are_filled(reservation: Resource) -> Iterator[Wrong]:
    """Find reservations without an end, open to other nodes of their type, or larger than what starts in them."""
    kind, end, criteria = (reservation[name] for name in ("EndDateType", "EndDate", "InstanceMatchCriteria"))
    if kind.text == "unlimited" or (kind.missing and end.missing):
        yield kind, "the reservation is billed until somebody cancels it", "limited, and an EndDate"
    some = nodes_of(reservation.template.templates)
    nodes = [each for each in some if each.target["CapacityReservationId"].target is reservation]
    if nodes and (criteria.missing or criteria.text == "open"):
        got = f"any {reservation['InstanceType'].text or 'node'} of the account takes a place of {nodes[0].name}"
        yield criteria, got, "targeted"
    count, most = reservation["InstanceCount"], [each.most for each in nodes]
    room = sum(each or 0 for each in most)
    if count.number is not None and most and None not in most and room < count.number:
        yield count, f"got {count.number}, and at most {room} nodes start in it", str(room)


@rule("UC6483", QUEUE)
def paid_capacity_is_used_first(queue: Resource) -> Iterator[Wrong]:
    """Find queues that start nodes on demand before those of a reservation, which is paid anyway."""
    behind = [each for each in nodes_of(queue.template.templates) if each.template is not None]
    places = queue["ComputeEnvironmentOrder"].items
    order = {each["ComputeEnvironment"].target: each["Order"] for each in places}
    ordered = [(order[nodes.owner], nodes) for nodes in behind if nodes.owner in order]
    paid = [place.number or 0 for place, nodes in ordered if nodes.is_targeted]
    for place, nodes in ordered:
        if not nodes.is_targeted and place.number is not None and paid and place.number < min(paid):
            got = f"{nodes.name} starts nodes on demand while the reservation behind it is paid and empty"
            yield place, got, "the reservation first"


@rule("UC6483", AUTO_SCALING_GROUP)
def blocks_are_filled(group: Resource) -> Iterator[Wrong]:
    """Find groups over a Capacity Block whose schedule starts fewer nodes than are paid."""
    nodes = next((each for each in nodes_of(group.template.templates) if each.owner is group), None)
    actions = group.referrers("AWS::AutoScaling::ScheduledAction", "AutoScalingGroupName")
    wanted = [each["MinSize" if each["DesiredCapacity"].missing else "DesiredCapacity"] for each in actions]
    if nodes is None or not nodes.in_block or not wanted[1:] or any(each.unknown for each in wanted):
        return
    largest = max((*wanted, group["DesiredCapacity"]), key=lambda each: each.number or 0)
    paid = max(each["MaxSize"].number or 0 for each in (group, *actions))
    if (largest.number or 0) < paid:
        yield largest, f"got {largest.number or 0} of {paid} nodes that are paid", str(paid)


RECORDS: Final = (
    RuleRecord(
        "UC6483",
        "What is billed by the hour is used, bounded and ends.",
        severity=Severity.WARNING,
        remedy="Remove what is not used, or use and bound it as the finding says.",
        source="Pricing pages of Amazon EC2 and EBS; EC2 User Guide, Capacity Reservations, 2026-11.",
    ),
    RuleRecord(
        "UC6482",
        "A job on several nodes or accelerators has the time to begin, and is repeated only for what is not its own fault.",
        severity=Severity.WARNING,
        remedy="Set EvaluateOnExit with RETRY for Host EC2* and EXIT for all else, and a Timeout of hours.",
        source="AWS Batch user guide, job timeouts and automated job retries, 2026-11: without EvaluateOnExit each failure is retried.",
    ),
)
