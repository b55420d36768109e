"""What the launch template of nodes says about their capacity.

The ID of a reservation goes from here into the launch template and the tags of the nodes, and from `BlockLifecycle` and
`ClusterWatch` into the variables and permissions of their functions. Preflight, `plan` and `cost` read it in the cluster.
"""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2

from ultracluster_catalog.names.cluster_tag import RESERVATION_TAG
from ultracluster_spec.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup, Spot


def reservation_target(
    capacity: Capacity | None,
) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
    """Return the reservation in which nodes are launched; instances launch into a block only if they name it."""
    template = ec2.CfnLaunchTemplate
    match capacity:
        case CapacityBlock() | CapacityReservation():
            return template.CapacityReservationSpecificationProperty(
                capacity_reservation_target=template.CapacityReservationTargetProperty(
                    capacity_reservation_id=capacity.reservation_id
                )
            )
        case ReservationGroup():
            return template.CapacityReservationSpecificationProperty(
                # Otherwise EC2 would start On-Demand instances when the group is full.
                capacity_reservation_preference="capacity-reservations-only",
                capacity_reservation_target=template.CapacityReservationTargetProperty(
                    capacity_reservation_resource_group_arn=capacity.resource_group_arn
                ),
            )
    return None


def market_options(
    capacity: Capacity | None, *, by_batch: bool
) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
    """Return the market of nodes: a Capacity Block needs it besides the reservation, and AWS Batch sets that of Spot."""
    match capacity:
        case CapacityBlock():
            market = capacity.market_type
        case Spot() if not by_batch:
            market = capacity.market_type
        case _:
            return None
    return ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty(market_type=market)


def node_tags(capacity: Capacity | None) -> Mapping[str, str]:
    """Return the tags of the nodes of one reservation."""
    match capacity:
        case CapacityBlock() | CapacityReservation():
            return {RESERVATION_TAG: capacity.reservation_id}
    return {}
