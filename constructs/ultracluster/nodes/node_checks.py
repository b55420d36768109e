"""Checks between network, capacity and placement of a group of nodes."""

from aws_cdk import Token

from ultracluster.capacity.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster.capacity.sources import check_source
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.nodes.cluster_placement import ClusterPlacement
from ultracluster_rules.capacity import check_block_placement
from ultracluster_rules.findings import Finding, quote

# The ECS-optimized AMIs of Amazon Linux 2023 have a volume of 30 GiB (Amazon ECS Developer Guide); a gp3 volume has at most
# 64 TiB (Amazon EBS User Guide); both read 2026-11.
_ROOT_VOLUME_GIB = (30, 65_536)


def check_nodes(
    *,
    network: ClusterNetwork,
    capacity: Capacity | None,
    placement: ClusterPlacement | None,
    root_volume_gib: int,
) -> list[Finding]:
    """Check that network, capacity and placement of nodes fit together; values unknown until deployment pass."""
    findings = check_source(capacity, path="capacity")
    block = check_block_placement(block=isinstance(capacity, CapacityBlock), placed=placement is not None)
    findings += [finding.at("placement") for finding in block]
    group = None
    if isinstance(capacity, (CapacityReservation, ReservationGroup)):
        group = capacity.placement_group_name
    name = placement.placement_group_name if placement else None
    if group is not None and group != name and not any(map(Token.is_unresolved, (group, name))):
        findings.append(
            Finding(
                "UC4023",
                f"the reservation was made inside the placement group {quote(group)}, got {quote(name)}",
                remedy="Use that group as placement, as ClusterPlacement.for_capacity does",
                path="placement",
            )
        )
    minimum, maximum = _ROOT_VOLUME_GIB
    if not minimum <= root_volume_gib <= maximum:
        findings.append(
            Finding(
                "UC2252",
                f"got {quote(root_volume_gib)} GiB",
                allowed=f"{minimum} to {maximum:,}, and not less than the AMI has",
                path="root_volume_gib",
            )
        )
    if (
        capacity is not None
        and capacity.zone_id is not None
        and capacity.zone_id != network.zone_id
        and not any(Token.is_unresolved(zone) for zone in (capacity.zone_id, network.zone_id))
    ):
        findings.append(
            Finding(
                "UC4021",
                f"the capacity is in {quote(capacity.zone_id)}, the network in {quote(network.zone_id)}",
                remedy="Put the network into the zone of the capacity",
                path="capacity",
            )
        )
    return findings
