"""What must hold between the parts that a group of nodes is made of."""

from aws_cdk import Token

from ultracluster.capacity.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.nodes.cluster_placement import ClusterPlacement
from ultracluster_rules.capacity import check_block_placement
from ultracluster_rules.findings import Finding, quote
from ultracluster_rules.images import AMI

__all__ = ["check_nodes"]

# The ECS-optimized AMIs of Amazon Linux 2023 have a volume of 30 GiB (Amazon ECS Developer Guide); a gp3 volume has up to
# 64 TiB (Amazon EBS User Guide); both read 2026-11.
_ROOT_VOLUME_GIB = (30, 65_536)


def check_nodes(
    *,
    network: ClusterNetwork,
    image_id: str,
    capacity: Capacity | None,
    placement: ClusterPlacement | None,
    root_volume_gib: int,
) -> list[Finding]:
    """Find out whether network, image, capacity and placement of nodes fit each other.

    Args:
        network: Network the nodes join.
        image_id: Id of their AMI.
        capacity: Where they come from. None is on-demand.
        placement: Their cluster placement group. None is none.
        root_volume_gib: Size of their root volume.

    Returns:
        UC4020, UC4023, UC4110, UC4021 and UC2252 for what does not fit; values that are known at deployment only pass.
    """
    findings = []
    block = check_block_placement(block=isinstance(capacity, CapacityBlock), placed=placement is not None)
    findings += [finding.at("placement") for finding in block]
    group = None
    if isinstance(capacity, (CapacityReservation, ReservationGroup)):
        group = capacity.placement_group_name
    given = placement.placement_group_name if placement else None
    if group is not None and group != given and not any(map(Token.is_unresolved, (group, given))):
        findings.append(
            Finding(
                code="UC4023",
                problem=f"the reservation was made inside the placement group {quote(group)}, got {quote(given)}",
                remedy="Give that group as placement; ClusterPlacement.for_capacity does",
                path="placement",
            )
        )
    if not Token.is_unresolved(image_id):
        findings += AMI.check(image_id, path="image_id")
    least, most = _ROOT_VOLUME_GIB
    if not (least <= root_volume_gib <= most or Token.is_unresolved(root_volume_gib)):
        findings.append(
            Finding(
                code="UC2252",
                problem=f"got {quote(root_volume_gib)} GiB",
                allowed=f"{least} to {most:,}, and not less than the AMI has",
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
                code="UC4021",
                problem=f"the capacity is in {quote(capacity.zone_id)}, the network in {quote(network.zone_id)}",
                remedy="Put the network into the zone of the capacity",
                path="capacity",
            )
        )
    return findings
