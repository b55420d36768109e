"""Avoidable costs: what is billed without use or without end, and budgets that notify nobody."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import BILLED
from ultracluster_checks.jobs import JOB_DEFINITION, job_containers
from ultracluster_checks.model.nodes import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    LAUNCH_TEMPLATE,
    QUEUE,
    VPC,
    launch_data,
    nodes_of,
    template_types,
)
from ultracluster_checks.model.template import Resource
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.state import BUCKET

_HIGHEST: Final = 200  # percent of a budget at which a notification is of no use
# Seconds that AWS Batch accepts, and in which a job over several nodes has loaded nothing yet.
_LEAST, _SHORTEST = 60, 600
_MANY_ATTEMPTS, _MOST_ATTEMPTS = 4, 10
_RESERVATION: Final = "AWS::EC2::CapacityReservation"


@rule("UC6459", "AWS::Budgets::Budget")
def budgets_notify_in_time(budget: Resource) -> Iterator[Wrong]:
    """Find budgets without a limit or subscriber, and notifications that come too late or never."""
    at, amount = budget["NotificationsWithSubscribers"], budget["Budget"]["BudgetLimit"]["Amount"]
    if amount.number == 0:
        yield amount, "got 0, which AWS Budgets refuses", "more than 0"
    if at.empty:
        yield at, "the budget has no notification", "a notification with a subscriber"
    for each in at.items:
        notification, subscribers = each["Notification"], each["Subscribers"]
        threshold, operator = notification["Threshold"], notification["ComparisonOperator"]
        unit = notification["ThresholdType"]
        if (unit.missing or unit.text == "PERCENTAGE") and (threshold.number or 0) > _HIGHEST:
            yield threshold, f"got {threshold.number} % of the budget, when it is long spent", "80 to 100"
        if operator.text == "LESS_THAN":
            yield operator, "the notification comes while little is spent", "GREATER_THAN"
        if subscribers.empty:
            yield subscribers, "the notification has no subscriber", "an email address or a topic"


@rule("UC6480", BUCKET)
def buckets_drop_what_is_replaced(bucket: Resource) -> Iterator[Wrong]:
    """Find buckets that keep old versions, or parts of failed uploads beside other rules forever."""
    at = bucket["LifecycleConfiguration"]["Rules"]
    rules = [each for each in at.items if each["Status"].text != "Disabled"]
    if at.unknown or any(each.unknown for each in at.items) or not bucket["ObjectLockEnabled"].missing:
        return
    present = {str(each.path[-1]) for one in rules for each in one.members}
    versions = bucket["VersioningConfiguration"]["Status"].text == "Enabled"
    if versions and not present & {"NoncurrentVersionExpiration", "NoncurrentVersionExpirationInDays"}:
        yield at, "each version that is replaced is billed for ever", "NoncurrentVersionExpiration"
    if not at.missing and "AbortIncompleteMultipartUpload" not in present:
        yield at, "parts of failed uploads are billed for ever", "AbortIncompleteMultipartUpload"


@rule("UC6481", VPC)
def data_goes_through_gateway_endpoints(vpc: Resource) -> Iterator[Wrong]:
    """Find route tables with a NAT gateway, which bills each gigabyte, and without the gateway endpoint of S3, which is free."""
    templates = vpc.template.templates
    endpoints = [
        each
        for each in templates.of_type("AWS::EC2::VPCEndpoint")
        if each["VpcId"].target in {vpc, None} and each["ServiceName"].pattern.endswith((".s3", "}"))
    ]
    if any(each["RouteTableIds"].unknown for each in endpoints):
        return
    led = {item.target for each in endpoints for item in each["RouteTableIds"].items}
    for route in templates.of_type("AWS::EC2::Route") if None not in led else ():
        table = route["RouteTableId"].target
        nat, own = route["NatGatewayId"], table is not None and table["VpcId"].target is vpc
        if table is not None and own and not nat.missing and table not in led:
            got = f"traffic of {table.logical_id} with S3 goes through the NAT gateway, which bills each gigabyte"
            yield nat, got, "a gateway endpoint of S3 with this route table, which is free"


@rule("UC6482", JOB_DEFINITION)
def jobs_repeat_what_is_not_their_fault(job: Resource) -> Iterator[Wrong]:
    """Find jobs on accelerators or several nodes that end before they start, or repeat their own faults."""
    own = [each for each in job_containers(job.template.templates) if each.at.resource is job]
    if not any(each.nodes != 1 or each.devices or each.machines for each in own):
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


@rule(BILLED, _RESERVATION)
def reservations_end_and_are_filled(reservation: Resource) -> Iterator[Wrong]:
    """Find reservations without an end, open to other nodes of their type, or larger than what starts in them."""
    kind, end, criteria = (reservation[name] for name in ("EndDateType", "EndDate", "InstanceMatchCriteria"))
    if kind.text == "unlimited" or (kind.missing and end.missing):
        yield kind, "the reservation is billed until somebody cancels it", "limited, and an EndDate"
    if (kind.text == "limited") is end.missing:
        got = "limited, and no EndDate" if end.missing else "an EndDate, and not limited"
        yield kind, f"got {got}, which EC2 refuses", "limited, and an EndDate"
    some = nodes_of(reservation.template.templates)
    nodes = [each for each in some if each.target["CapacityReservationId"].target is reservation]
    if nodes and (criteria.missing or criteria.text == "open"):
        got = f"any {reservation['InstanceType'].text or 'node'} of the account takes a place of {nodes[0].name}"
        yield criteria, got, "targeted"
    count, most = reservation["InstanceCount"], [each.most for each in nodes]
    room = sum(each or 0 for each in most)
    if count.number is not None and most and None not in most and room < count.number:
        yield count, f"got {count.number}, and at most {room} nodes start in it", str(room)


@rule(BILLED, QUEUE)
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


@rule(BILLED, AUTO_SCALING_GROUP)
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


@rule(BILLED, LAUNCH_TEMPLATE)
def nodes_end_when_they_shut_down(template: Resource) -> Iterator[Wrong]:
    """Find nodes that stop instead of ending, so that their volumes stay."""
    behaviour = launch_data(template)["InstanceInitiatedShutdownBehavior"]
    nodes = [each for each in nodes_of(template.template.templates) if each.template is template]
    replaced = any(each.owner.type in {AUTO_SCALING_GROUP, COMPUTE_ENVIRONMENT} for each in nodes)
    if template_types(template) and replaced and behaviour.text == "stop":
        yield behaviour, "nodes that shut themselves down keep their volumes, which are billed", "terminate"
