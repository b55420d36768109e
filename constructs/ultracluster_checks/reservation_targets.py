"""Nodes and their reservation: market and target, and whether the nodes of a queue start in the capacity that is paid."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK
from ultracluster_catalog.prices.prices import ON_DEMAND_PRICES
from ultracluster_checks.model.nodes import (
    COMPUTE_ENVIRONMENT,
    LAUNCH_TEMPLATE,
    QUEUE,
    RESERVATION_ID,
    TARGETS,
    Nodes,
    differ,
    efa_interfaces,
    environments_of,
    is_block,
    known_blocks,
    launch_data,
    nodes_of,
    settings_of,
    target_of,
    template_types,
    users_of,
    zone_of,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Unknown
from ultracluster_checks.problem import Problem, Wrong, placed, rule
from ultracluster_spec.capacity import RESERVATION, check_block_placement, check_purchase_option
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.record import RuleRecord

_RESERVATION: Final = "AWS::EC2::CapacityReservation"
_PRICED_ON_DEMAND: Final = {name for name, _ in ON_DEMAND_PRICES}
_NAMED: Final = re.compile(r"(?i)reservation|block.*id|^cr_?id")
_FITS: Final = "UC4223"
_WITHOUT_SPOT: Final = "UC4202"


def _target_is_missing(data: Property) -> bool:
    return all(target_of(data)[name].missing for name in TARGETS)


@rule("UC4201", LAUNCH_TEMPLATE)
def market_and_target_go_together(template: Resource) -> Iterator[Wrong]:
    """Find Capacity Blocks without a reservation target, targets of two kinds, and preferences that turn a target off."""
    data = launch_data(template)
    target, market = target_of(data), data["InstanceMarketOptions"]["MarketType"]
    if is_block(data) and not target.unknown and _target_is_missing(data):
        got = "market type capacity-block without the reservation that nodes are launched into"
        yield target, got, "CapacityReservationId, or the ARN of a resource group of blocks"
    if all(target[name].given for name in TARGETS):
        yield target, "an ID and a resource group, of which EC2 takes one", " or ".join(TARGETS)
    group = target["CapacityReservationResourceGroupArn"]
    if _names_a_reservation(group):
        yield group, f"got {group.pattern}, the ID of a reservation", "the ARN of a resource group"
    preference = data["CapacityReservationSpecification"]["CapacityReservationPreference"]
    one = target["CapacityReservationId"]
    if preference.text in {"open", "none"} and (is_block(data) or not one.missing):
        got = f"got {quote(preference.text)} beside the reservation that nodes are launched into"
        yield preference, got, "no preference, or capacity-reservations-only"
    if market.missing and not one.missing and one.value in known_blocks(template.template.templates):
        got = f"{one.pattern} is a Capacity Block, which EC2 launches into with its market type only"
        yield market, got, CAPACITY_BLOCK


def _names_a_reservation(at: Property) -> bool:
    """Return whether a property is the ID of a reservation, or a parameter that takes nothing else."""
    name = at.value.name if isinstance(at.value, Unknown) else ""
    pattern = str(at.resource.template.parameters.get(name, {}).get("AllowedPattern"))
    return "cr-[" in pattern or bool(RESERVATION_ID.fullmatch(at.text or ""))


@rule(_WITHOUT_SPOT, LAUNCH_TEMPLATE)
def reservations_hold_no_spot_nodes(template: Resource) -> Iterator[Wrong]:
    """Find Spot nodes with a reservation as their target."""
    data = launch_data(template)
    market, block = data["InstanceMarketOptions"], is_block(data)
    if block and not market["SpotOptions"].missing:
        yield market["SpotOptions"], "options of Spot for a Capacity Block", "none", "Leave them out"
    if market["MarketType"].text == "spot" and not _target_is_missing(data):
        yield market["MarketType"], "spot, and the target is a reservation", "capacity-block, or none"
    reserved = market["MarketType"].missing and not _target_is_missing(data)
    for user in users_of(template) if block or reserved else ():
        kind, capacity = user["ComputeResources"]["Type"], "a Capacity Block" if block else "a reservation"
        if kind.text == "SPOT":
            yield kind, f"SPOT, and {template.logical_id} launches into {capacity}", "EC2"


@rule("UC4221", nodes_of)
def blocks_have_no_mixed_instances(nodes: Nodes) -> Iterator[Wrong]:
    """Find mixed instances and warm pools over a Capacity Block, and Spot nodes of a group over any reservation."""
    mixed = nodes.owner["MixedInstancesPolicy"]
    none = "over a Capacity Block, which Amazon EC2 Auto Scaling does not support"
    if nodes.in_block and not mixed.missing and not mixed.unknown:
        yield mixed, f"mixed instances {none}", "LaunchTemplate"
    share = mixed["InstancesDistribution"]["OnDemandPercentageAboveBaseCapacity"]
    if nodes.is_targeted and share.number is not None and share.number < 100:  # noqa: PLR2004 - percent
        got = f"{100 - share.number} % of the nodes are Spot nodes, and the target is a reservation"
        yield Problem.of(share, _WITHOUT_SPOT, got, "100")
    for pool in nodes.owner.referrers("AWS::AutoScaling::WarmPool", "AutoScalingGroupName"):
        if nodes.in_block:
            yield pool.properties, f"a warm pool {none}", "none"


@rule("UC4203", LAUNCH_TEMPLATE)
def blocks_are_launched_as_blocks(template: Resource) -> Iterator[Wrong]:
    """Find targets without a market type for types that are hardly sold other than in blocks."""
    data = launch_data(template)
    if not data["InstanceMarketOptions"]["MarketType"].missing or _target_is_missing(data):
        return
    for instance_type in template_types(template):
        if CAPACITY_BLOCK in instance_type.purchase_options and instance_type.name not in _PRICED_ON_DEMAND:
            unpriced = f"no on-demand price of {instance_type.name} is known"
            got = f"a reservation without a market type, and {unpriced}; if it is a Capacity Block, no node starts"
            yield data["InstanceMarketOptions"], got, f"MarketType: {CAPACITY_BLOCK} for a Capacity Block"


@rule("UC4204", LAUNCH_TEMPLATE)
def groups_of_reservations_are_not_exceeded(template: Resource) -> Iterator[Wrong]:
    """Find resource groups of reservations with a preference that starts further nodes on demand."""
    data = launch_data(template)
    preference = data["CapacityReservationSpecification"]["CapacityReservationPreference"]
    group = target_of(data)["CapacityReservationResourceGroupArn"]
    open_ = preference.missing or preference.text in {"open", "none"}
    if data["InstanceMarketOptions"]["MarketType"].missing and group.given and open_:
        got = "when the reservations of the group are full, EC2 starts further nodes on demand"
        yield preference, got, "capacity-reservations-only"


@rule("UC4205", LAUNCH_TEMPLATE)
def blocks_have_one_type(template: Resource) -> Iterator[Wrong]:
    """Find Capacity Blocks with several instance types, in a placement group, or with an invalid type or ID."""
    data = launch_data(template)
    at, market = target_of(data)["CapacityReservationId"], data["InstanceMarketOptions"]["MarketType"]
    if at.text is not None:
        yield from placed(at, RESERVATION.check(at.text))
    if not is_block(data):
        return
    for instance_type in template_types(template):
        yield from placed(market, check_purchase_option(instance_type, CAPACITY_BLOCK))
    for place in _placement_groups(template):
        if not place.missing and not place.unknown:
            yield from placed(place, check_block_placement(block=True, placed=True))
    for user in users_of(template):
        types = user["ComputeResources"]["InstanceTypes"]
        if user.type == COMPUTE_ENVIRONMENT and len(types.certain) > 1:
            got = f"{len(types.certain)} instance types for a Capacity Block, which holds one type"
            yield types, got, "its type"


def _placement_groups(template: Resource) -> list[Property]:
    """Return where a launch template and those that use it name a placement group."""
    placement = launch_data(template)["Placement"]
    of_users = [settings_of(user)["PlacementGroup"] for user in users_of(template)]
    return [placement["GroupName"], placement["GroupId"], *of_users]


@rule("UC4222", LAUNCH_TEMPLATE)
def efa_nodes_are_close_together(template: Resource) -> Iterator[Wrong]:
    """Find EFA nodes whose placement group or partition keeps them apart."""
    if not efa_interfaces(launch_data(template)):
        return
    for group in dict.fromkeys(at.target for at in _placement_groups(template)):
        if group is None or group.type != "AWS::EC2::PlacementGroup":
            continue
        strategy = group["Strategy"]
        if strategy.text in {"spread", "partition"} or not group["SpreadLevel"].missing:
            got = f"got {quote(strategy.text)}, which keeps the EFA nodes of {template.logical_id} apart"
            yield strategy, got, "cluster"
    partition = launch_data(template)["Placement"]["PartitionNumber"]
    if partition.known:
        yield partition, "a partition for nodes with EFA", "a cluster placement group"


@rule(_FITS, nodes_of)
def nodes_fit_their_reservation(nodes: Nodes) -> Iterator[Wrong]:
    """Find nodes that their reservation cannot hold: another type, zone, tenancy or placement group, or more of them."""
    at = nodes.target["CapacityReservationId"]
    tenancy = nodes.data["Placement"]["Tenancy"]
    if nodes.in_block and nodes.is_targeted and tenancy.text in {"dedicated", "host"}:
        yield tenancy, f"got {quote(tenancy.text)}; Capacity Blocks have the default tenancy", "default"
    held = at.target
    yield from _not_of_pool(nodes)
    if held is None or held.type != _RESERVATION:
        return
    name, none = held.logical_id, ": none of them starts there"
    kind = held["InstanceType"].text
    if kind and nodes.types and all(instance_type.name != kind for instance_type in nodes.types):
        yield at, f"{name} holds {kind}, and the nodes are {nodes.types[0].name}{none}", kind
    zones = {str(zone_of(each.target)) for each in nodes.subnets.items if each.target is not None}
    zone = held["AvailabilityZoneId"].text or held["AvailabilityZone"].text
    if zone and zones and "None" not in zones and all(_are_apart(zone, each) for each in zones):
        yield at, f"{name} is in {zone}, and the nodes are in {', '.join(sorted(zones))}{none}", zone
    count, wanted = held["InstanceCount"].number, nodes.most or 0
    if count is not None and wanted > count:
        yield at, f"{name} holds {count} nodes of {wanted}{none}", f"{count} nodes"
    if (held["Tenancy"].text or "default") != (tenancy.text or "default"):
        yield at, f"{name} has another tenancy than the nodes{none}", "the same tenancy"
    group, own = held["PlacementGroupArn"], nodes.settings["PlacementGroup"]
    place = nodes.data["Placement"]["GroupName"] if own.missing else own
    another = place.target is None and place.text is not None and group.targets
    if group.missing and place.target is not None and place.target["Strategy"].text == "cluster":
        got = f"{name} is in no placement group, and the nodes are started in {place.pattern}{none}"
        yield group, got, f"the ARN of {place.pattern}"
    if not group.missing and (place.missing or another):
        got = "the reservation was made in a placement group that the nodes do not start in"
        yield place, got, group.pattern


def _not_of_pool(nodes: Nodes) -> Iterator[Wrong]:
    """Find nodes whose type is not that of the resource group of reservations that they are launched into."""
    at = nodes.target["CapacityReservationResourceGroupArn"]
    pool = at.target["Configuration"].items if at.target is not None else []
    for each in (parameter for part in pool for parameter in part["Parameters"].items):
        kinds = each["Values"].texts if each["Name"].text == "instance-type" else []
        if kinds and None not in kinds and nodes.types and not {*kinds} & {one.name for one in nodes.types}:
            got = f"the reservations of the group are of {kinds[0]}, and the nodes are {nodes.types[0].name}"
            yield at, got, str(kinds[0])


def _are_apart(first: str, second: str) -> bool:
    both = first[-1:].isdigit() == second[-1:].isdigit()  # both IDs, or both names
    return both and differ(first, second)


@rule(_FITS, _RESERVATION)
def reservations_are_used(reservation: Resource) -> Iterator[Wrong]:
    """Find reservations of a template that its nodes do not start in."""
    nodes = [each for each in nodes_of(reservation.template.templates) if each.template or each.in_batch]
    platform, criteria = reservation["InstancePlatform"], reservation["InstanceMatchCriteria"]
    if nodes and "Windows" in (platform.text or ""):
        yield platform, f"got {platform.text}, and the nodes run Linux", "Linux/UNIX"
    targets = [each.target["CapacityReservationId"] for each in nodes]
    used = any(at.target is reservation or at.unknown for at in targets)
    if nodes and not used and criteria.text == "targeted":
        got = "the reservation takes targeted launches only, and no launch template targets it"
        yield criteria, got, "CapacityReservationId in the launch template"


@rule(_FITS)
def reservations_are_named_by_their_parameter(templates: Templates) -> Iterator[Wrong]:
    """Find IDs of reservations written out in a template that has a parameter with another one."""
    for template in templates.all:
        given = {
            name: str(parameter.get("Default") or "")
            for name, parameter in template.parameters.items()
            if _NAMED.search(name) and not str(parameter.get("Type")).startswith(("List", "Comma"))
        }
        ids = {text for text in given.values() if RESERVATION_ID.fullmatch(text)}
        blank = [name for name, text in given.items() if not text]
        for resource in template.resources.values() if ids or blank else ():
            for at in _texts(resource.properties):
                if RESERVATION_ID.fullmatch(at.text or "") and at.text not in ids:
                    name = next(iter(blank or [name for name, text in given.items() if text in ids]))
                    yield at, f"got {at.text}, and the reservation is that of {name}", f"!Ref {name}"


def _texts(at: Property) -> Iterator[Property]:
    for part in at.parts:
        yield from _texts(part)
    if isinstance(at.value, str):
        yield at


@rule(_FITS, nodes_of)
def overrides_keep_the_block(nodes: Nodes) -> Iterator[Wrong]:
    """Find overrides of a launch template that take nodes out of their Capacity Block."""
    for each in nodes.settings["LaunchTemplate"]["Overrides"].items if nodes.in_block else ():
        other = each["LaunchTemplateId"].target
        if other is not None and launch_data(other)["InstanceMarketOptions"].missing:
            got = f"{other.logical_id} starts nodes outside of the Capacity Block"
            yield each["LaunchTemplateId"], got, "a launch template with the block"


@rule(_FITS, QUEUE)
def tiers_have_their_own_reservation(queue: Resource) -> Iterator[Wrong]:
    """Find queues with two environments that start nodes into one reservation."""
    environments = environments_of(queue) or []
    behind = [nodes for nodes in nodes_of(queue.template.templates) if nodes.owner in environments]
    launched = [nodes.template for nodes in behind]
    for nodes in behind:
        targeted = nodes.template is not None and not nodes.target["CapacityReservationId"].missing
        if targeted and launched.count(nodes.template) > 1:
            got = f"two environments of {queue.logical_id} start nodes into one reservation"
            yield nodes.settings["LaunchTemplate"], got, "a launch template of its own"


@rule("UC4225")
def environments_are_in_a_queue(templates: Templates) -> Iterator[Wrong]:
    """Find environments that no queue of the templates starts jobs on."""
    orders = [item for queue in templates.of_type(QUEUE) for item in queue["ComputeEnvironmentOrder"].items]
    places = [item["ComputeEnvironment"] for item in orders]
    if not places or any(each.missing or each.unknown for each in places):
        return
    used = {each.target for each in places}
    outputs = str([template.source.body.get("Outputs") for template in templates.all])
    for nodes in nodes_of(templates):
        if nodes.in_batch and nodes.owner not in used and f"'{nodes.name}" not in outputs:
            queue = places[0].resource.logical_id
            got = f"no queue names {nodes.name}; {queue} names {places[0].pattern}"
            yield nodes.owner.properties, got, "the environment in the order of a queue"


RECORDS: Final = (
    RuleRecord(
        "UC4201",
        "Market type capacity-block and the target reservation are used together.",
        remedy="Specify the reservation ID of the block, or the ARN of a resource group of blocks.",
        source="EC2 user guide, launch instances into Capacity Blocks; eksctl-io/eksctl 8542.",
        never_left_out=True,
    ),
    RuleRecord(
        "UC4202",
        "Nodes of a Capacity Block or another reservation are not Spot nodes.",
        remedy="Use a compute environment of type EC2 without Spot options, and a separate launch template and environment for Spot nodes.",
        source="EC2 API Reference, CapacityReservationSpecification, 2026-11: On-Demand Instances run in reservations; Capacity Blocks and Spot are markets of their own (MarketType).",
        never_left_out=True,
    ),
    RuleRecord(
        "UC4203",
        "A launch template that targets a reservation specifies its market type, for instance types without an on-demand price.",
        severity=Severity.WARNING,
        remedy="Set MarketType to capacity-block if the reservation is a Capacity Block. An On-Demand Capacity Reservation has no market type: skip the rule there.",
        source="AWS Price List as kept by Karpenter, 2026-07-20: no on-demand price of trn2.48xlarge. hashicorp terraform-aws-ec2-instance 404.",
    ),
    RuleRecord(
        "UC4204",
        "Nodes of a resource group of reservations are launched only into these reservations.",
        remedy="Set CapacityReservationPreference to capacity-reservations-only.",
        source="EC2 API reference, CapacityReservationSpecification: otherwise instances run on demand when the reservations are full.",
        never_left_out=True,
    ),
    RuleRecord(
        "UC4205",
        "The nodes of a Capacity Block are of one instance type.",
        remedy="Specify the instance type of the block, and separate environments behind the same queue for other types.",
        source="EC2 user guide, Capacity Blocks: a block has one instance type.",
    ),
    RuleRecord(
        "UC4221",
        "Nodes of a Capacity Block are not chosen from mixed instances.",
        remedy="Name the launch template in LaunchTemplate.",
        source="Amazon EC2 Auto Scaling user guide, Capacity Blocks for machine learning workloads, 2026-11: mixed instances policies are not supported.",
    ),
    RuleRecord(
        "UC4222",
        "Nodes with EFA are close together.",
        remedy="Use the strategy cluster, or no placement group.",
        source="EC2 user guide, placement strategies, 2026-11: spread takes 7 instances of a zone, each on other hardware; AWS Batch user guide, EFA: a cluster placement group.",
    ),
    RuleRecord(
        "UC4223",
        "A reservation has the type, zone, tenancy and number of the nodes that are launched into it.",
        remedy="Use the type, zone, tenancy and number of the reservation.",
        source="EC2 user guide, Capacity Reservations, 2026-11: instances run in a reservation whose attributes they match.",
    ),
    RuleRecord(
        "UC4225",
        "A compute environment is used by a queue.",
        severity=Severity.WARNING,
        remedy="Name the environment in ComputeEnvironmentOrder.",
        source="AWS Batch user guide, job queues, 2026-11: jobs start on the environments of their queue.",
    ),
)
