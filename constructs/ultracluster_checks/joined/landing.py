"""Nodes and their reservation: queues must launch nodes into the capacity that their launch template names."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.joined.nodes import QUEUE, Nodes, differ, known_blocks, nodes_of
from ultracluster_checks.machines import AUTO_SCALING_GROUP
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import (
    IMAGE_WITH_DRIVER,
    MARKET_WITH_RESERVATION,
    NO_MIXED_INSTANCES,
    RESERVATION_FITS_NODES,
    RESERVATION_WITHOUT_SPOT,
    TEMPLATE_VERSION,
)
from ultracluster_checks.subnets import zone_of
from ultracluster_checks.template import Property, Templates
from ultracluster_checks.values import Reference, Unknown
from ultracluster_rules.capacity import check_allocation_strategy
from ultracluster_rules.findings import quote

_RESERVATION: Final = "AWS::EC2::CapacityReservation"
_TARGETS: Final = ("CapacityReservationId", "CapacityReservationResourceGroupArn")


def _launched(templates: Templates) -> Iterator[tuple[Nodes, Property]]:
    """Return nodes with a reservation target, each launch template once."""
    seen = set()
    for nodes in nodes_of(templates):
        if nodes.template is not None and nodes.template not in seen:
            seen.add(nodes.template)
            yield nodes, nodes.target


def targets_are_one_reservation(templates: Templates) -> Iterator[Problem]:
    """Find targets of two kinds, and preferences beside a target that turn it off."""
    for nodes, target in _launched(templates):
        if all(not target[name].missing and not isinstance(target[name].value, Unknown) for name in _TARGETS):
            yield Problem.of(
                target,
                MARKET_WITH_RESERVATION,
                "an ID and a resource group, of which EC2 takes one",
                " or ".join(_TARGETS),
            )
        preference = nodes.data["CapacityReservationSpecification"]["CapacityReservationPreference"]
        named = any(not target[name].missing for name in _TARGETS)
        if preference.text in {"open", "none"} and (
            nodes.in_block or (named and not target[_TARGETS[0]].missing)
        ):
            yield Problem.of(
                preference,
                MARKET_WITH_RESERVATION,
                f"got {quote(preference.text)} beside the reservation that nodes are launched into",
                "no preference, or capacity-reservations-only",
            )


def known_blocks_are_launched_as_blocks(templates: Templates) -> Iterator[Problem]:
    """Find nodes whose target is a Capacity Block elsewhere in the templates, without its market type."""
    for nodes, target in _launched(templates):
        at, market = target["CapacityReservationId"], nodes.data["InstanceMarketOptions"]["MarketType"]
        if market.missing and not at.missing and at.value in known_blocks(templates):
            yield Problem.of(
                market,
                MARKET_WITH_RESERVATION,
                f"{at.pattern} is a Capacity Block, which EC2 launches into with its market type only",
                "capacity-block",
            )


def blocks_have_no_mixed_instances(templates: Templates) -> Iterator[Problem]:
    """Find mixed instances over a Capacity Block, and Spot nodes of a group over any reservation."""
    for nodes in nodes_of(templates):
        mixed = nodes.owner["MixedInstancesPolicy"]
        if nodes.owner.type != AUTO_SCALING_GROUP or mixed.missing or isinstance(mixed.value, Unknown):
            continue
        if nodes.in_block:
            yield Problem.of(
                mixed,
                NO_MIXED_INSTANCES,
                "mixed instances over a Capacity Block, which Amazon EC2 Auto Scaling does not support",
                "LaunchTemplate",
            )
        share = mixed["InstancesDistribution"]["OnDemandPercentageAboveBaseCapacity"]
        if (
            share.number is not None
            and share.number < 100  # noqa: PLR2004 - percent
            and any(not nodes.target[name].missing for name in _TARGETS)
        ):
            yield Problem.of(
                share,
                RESERVATION_WITHOUT_SPOT,
                f"{100 - share.number} % of the nodes are Spot nodes, and the target is a reservation",
                "100",
            )


def environments_choose_nodes_for_their_market(templates: Templates) -> Iterator[Problem]:
    """Find allocation strategies that do not fit the market of the nodes."""
    for nodes in nodes_of(templates):
        at, kind = nodes.settings["AllocationStrategy"], nodes.settings["Type"].text
        if nodes.in_batch and at.text is not None and (kind == "EC2" or nodes.in_block):
            market = "capacity-block" if nodes.in_block else "on-demand"
            strategy = at.text.lower().replace("_", "-")
            for finding in check_allocation_strategy(market, strategy, path="") if "spot" in strategy else ():
                yield Problem(at, finding)


def efa_nodes_are_close_together(templates: Templates) -> Iterator[Problem]:
    """Find EFA nodes whose placement group or partition keeps them apart."""
    for nodes in nodes_of(templates):
        if not nodes.efa_interfaces:
            continue
        placement = nodes.data["Placement"]
        for at in (nodes.settings["PlacementGroup"], placement["GroupName"], placement["GroupId"]):
            group = at.target
            if group is None or group.type != "AWS::EC2::PlacementGroup":
                continue
            strategy, level = group["Strategy"], group["SpreadLevel"]
            if strategy.text in {"spread", "partition"} or not level.missing:
                yield Problem.of(
                    strategy,
                    "UC4222",
                    f"got {quote(strategy.text)}, which keeps the EFA nodes of {nodes.owner.logical_id} apart",
                    "cluster",
                )
        if not placement["PartitionNumber"].missing:
            yield Problem.of(
                placement["PartitionNumber"],
                "UC4222",
                "a partition for nodes with EFA",
                "a cluster placement group",
            )
        tenancy = placement["Tenancy"]
        if (
            tenancy.text in {"dedicated", "host"}
            and any(not nodes.target[name].missing for name in _TARGETS)
            and nodes.in_block
        ):
            yield Problem.of(
                tenancy,
                RESERVATION_FITS_NODES,
                f"got {quote(tenancy.text)}; Capacity Blocks have the default tenancy",
                "default",
            )


def versions_are_of_the_same_template(templates: Templates) -> Iterator[Problem]:
    """Find nodes with the version of another launch template."""
    for nodes in nodes_of(templates):
        if nodes.template is None:
            continue
        places = [nodes.settings["LaunchTemplate"]]
        places += [nodes.owner["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]]
        for at in places:
            version = at["Version"].value
            if isinstance(version, Reference) and at["Version"].target is not nodes.template:
                yield Problem.of(
                    at["Version"],
                    TEMPLATE_VERSION,
                    f"the version is that of {version.logical_id}, and the launch template is {nodes.template.logical_id}",
                    f"the LatestVersionNumber of {nodes.template.logical_id}",
                )


def nodes_fit_the_reservation_of_their_template(templates: Templates) -> Iterator[Problem]:
    """Find nodes that a reservation of the same templates cannot hold: another type, zone, platform or more of them."""
    for nodes in nodes_of(templates):
        at = nodes.target["CapacityReservationId"]
        reservation = at.target
        if reservation is None or reservation.type != _RESERVATION:
            continue
        held = reservation["InstanceType"].text
        if held and nodes.types and all(machine.name != held for machine in nodes.types):
            yield _unfit(
                at, f"{reservation.logical_id} holds {held}, and the nodes are {nodes.types[0].name}", held
            )
        zones = {zone_of(each.target) for each in nodes.subnets.items if each.target is not None}
        zone = reservation["AvailabilityZoneId"].text or reservation["AvailabilityZone"].text
        if (
            zone
            and zones
            and None not in zones
            and all(differ(zone, each) and _alike(zone, str(each)) for each in zones)
        ):
            yield _unfit(
                at,
                f"{reservation.logical_id} is in {zone}, and the nodes are in {', '.join(map(str, zones))}",
                zone,
            )
        count, most = reservation["InstanceCount"].number, nodes.settings["MaxvCpus"].number
        if count is not None and most and nodes.types and most // nodes.types[0].vcpus > count:
            yield _unfit(
                at,
                f"{reservation.logical_id} holds {count} nodes of {most // nodes.types[0].vcpus}",
                f"{count} nodes",
            )
        if (reservation["Tenancy"].text or "default") != (
            nodes.data["Placement"]["Tenancy"].text or "default"
        ):
            yield _unfit(
                at, f"{reservation.logical_id} has another tenancy than the nodes", "the same tenancy"
            )


def _alike(first: str, second: str) -> bool:
    return (first[-1:].isdigit()) == (second[-1:].isdigit())  # both IDs, or both names


def _unfit(at: Property, problem: str, allowed: str) -> Problem:
    return Problem.of(at, RESERVATION_FITS_NODES, f"{problem}: none of them starts there", allowed)


def neuron_nodes_have_drivers(templates: Templates) -> Iterator[Problem]:
    """Find nodes with Neuron chips whose image has no driver for them."""
    for nodes in nodes_of(templates):
        if not nodes.in_batch or not nodes.types or not all(machine.is_neuron for machine in nodes.types):
            continue
        kinds = nodes.settings["Ec2Configuration"]
        for each in kinds.items:
            kind = each["ImageType"]
            if (kind.text or "").endswith("_NVIDIA"):
                yield Problem.of(
                    kind,
                    IMAGE_WITH_DRIVER,
                    f"got {kind.text}, which is made for GPUs, for {nodes.types[0].name}",
                    "ECS_AL2023",
                )
        images = [
            nodes.settings["ImageId"],
            nodes.data["ImageId"],
            *(each["ImageIdOverride"] for each in kinds.items),
        ]
        if isinstance(kinds.value, Unknown) or any(not each.missing for each in images):
            continue
        if nodes.template is None and not nodes.settings["LaunchTemplate"].missing:
            continue
        yield Problem.of(
            kinds,
            IMAGE_WITH_DRIVER,
            f"AWS Batch chooses the image, and none of its own has the Neuron driver for {nodes.types[0].name}",
            "ImageIdOverride with an image that has the Neuron driver and EFA",
        )


def environments_are_in_a_queue(templates: Templates) -> Iterator[Problem]:
    """Find environments that no queue of the templates starts jobs on."""
    queues = list(templates.of_type(QUEUE))
    places = [
        each["ComputeEnvironment"] for queue in queues for each in queue["ComputeEnvironmentOrder"].items
    ]
    used = {each.target for each in places}
    outputs = str([template.source.body.get("Outputs") for template in templates.all])
    known = places and not any(each.missing or isinstance(each.value, Unknown) for each in places)
    for nodes in nodes_of(templates) if known else ():
        if nodes.in_batch and nodes.owner not in used and f"'{nodes.owner.logical_id}" not in outputs:
            yield Problem.of(
                nodes.owner.properties,
                "UC4225",
                f"no queue names {nodes.owner.logical_id}; {queues[0].logical_id} names {places[0].pattern}",
                "the environment in the order of a queue",
            )
