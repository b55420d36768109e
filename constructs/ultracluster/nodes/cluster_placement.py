"""The cluster placement group, and the one place that decides whether nodes get one."""

from typing import Literal, Self

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.capacity.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster.capacity.sources import named
from ultracluster.capacity.unreserved_capacity import OnDemandCapacity, SpotCapacity

__all__ = ["ClusterPlacement", "placement_of"]


class ClusterPlacement(Construct):
    """A cluster placement group: nodes close together in one Availability Zone."""

    def __init__(
        self, scope: Construct, construct_id: str, *, placement_group_name: str | None = None
    ) -> None:
        """Define a group, or bring one.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            placement_group_name: Name of an existing cluster placement group. Default: a new group, which
                CloudFormation names; a fixed name collides with the group of an earlier deployment.
        """
        super().__init__(scope, construct_id)
        if placement_group_name is None:
            placement_group_name = ec2.CfnPlacementGroup(self, "Resource", strategy="cluster").ref
        self._placement_group_name = placement_group_name

    @classmethod
    def for_capacity(cls, scope: Construct, construct_id: str, capacity: Capacity | None) -> Self | None:
        """Give the placement that a source of capacity can use.

        A Capacity Block gets none: EC2 does not support the two together, and a forced group has been
        seen to launch 11 of 16 reserved nodes (eksctl#7949). A reservation gets only the group that it was
        made inside. On-demand nodes get a group of their own. Spot nodes run jobs of one node, which gain nothing
        from a group and start less often in one.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            capacity: Where the nodes come from. None means on-demand.
        """
        match capacity:
            case None | OnDemandCapacity():
                return cls(scope, construct_id)
            case (
                CapacityReservation(placement_group_name=str(name))
                | ReservationGroup(placement_group_name=str(name))
            ):
                return cls(scope, construct_id, placement_group_name=name)
            case _:
                return None

    @property
    def placement_group_arn(self) -> str:
        """ARN of the group: a reservation that is made with it as ``PlacementGroupArn`` is made inside the group."""
        return Stack.of(self).format_arn(
            service="ec2", resource="placement-group", resource_name=self._placement_group_name
        )

    @property
    def placement_group_name(self) -> str:
        """Name of the group."""
        return self._placement_group_name


def placement_of(
    scope: Construct,
    source: Capacity | None,
    wanted: ClusterPlacement | Literal["auto", "none"],
    *,
    alone: bool,
) -> ClusterPlacement | None:
    """Give the placement of one source of a cluster.

    Args:
        scope: The cluster.
        source: The source; None is on-demand.
        wanted: What the cluster was given: ``auto`` is what the capacity can use, ``none`` is none, and a group of one's
            own is for those sources that can be in it.
        alone: Whether it is the cluster's only source, which a given group is always for.
    """
    if wanted == "none":
        return None
    if isinstance(wanted, ClusterPlacement):
        own_group = (
            isinstance(source, (CapacityReservation, ReservationGroup)) and source.placement_group_name
        )
        if alone or not (own_group or isinstance(source, (CapacityBlock, SpotCapacity))):
            return wanted
    return ClusterPlacement.for_capacity(scope, named("Placement", source), source)
