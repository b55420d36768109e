"""Cluster placement groups, and which nodes use them."""

from typing import Literal, Self, TypeAlias

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.capacity.sources import named
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import (
    Capacity,
    CapacityBlock,
    CapacityReservation,
    OnDemand,
    ReservationGroup,
    Spot,
)
from ultracluster_spec.findings import Finding, require


class ClusterPlacement(Construct):
    """A cluster placement group: nodes close together in one Availability Zone."""

    placement_group_name: str
    """Name of the group."""

    @validate_arguments
    def __init__(
        self, scope: Construct, construct_id: str, *, placement_group_name: str | None = None
    ) -> None:
        """Define a placement group, or import one.

        Args:
            placement_group_name: Name of an existing cluster placement group. Default: a new group with a generated name,
                because a fixed name would collide with the group of an earlier deployment.
        """
        super().__init__(scope, construct_id)
        if placement_group_name is None:
            placement_group_name = ec2.CfnPlacementGroup(self, "Resource", strategy="cluster").ref
        self.placement_group_name = placement_group_name

    @classmethod
    @validate_arguments
    def for_capacity(cls, scope: Construct, construct_id: str, capacity: Capacity | None) -> Self | None:
        """Return the placement group that a capacity source can use, if any.

        A Capacity Block uses none: EC2 does not support the combination, and a forced group has been seen to launch 11 of 16
        reserved nodes (eksctl#7949). A reservation uses only the group that it was created in. On-Demand nodes get a new
        group. Spot nodes run single-node jobs, which do not benefit from a group, and launch less often in one.

        Args:
            capacity: Capacity source. None is On-Demand.
        """
        match capacity:
            case None | OnDemand():
                return cls(scope, construct_id)
            case CapacityReservation(placement_group=str(name)) | ReservationGroup(placement_group=str(name)):
                return cls(scope, construct_id, placement_group_name=name)
            case _:
                return None

    @property
    def placement_group_arn(self) -> str:
        """ARN of the group; pass it as ``PlacementGroupArn`` to create a reservation in the group."""
        return Stack.of(self).format_arn(
            service="ec2", resource="placement-group", resource_name=self.placement_group_name
        )


AnyPlacement: TypeAlias = ClusterPlacement | ec2.IPlacementGroup
"""A cluster placement group of ours, or of the CDK."""

Placement: TypeAlias = AnyPlacement | ec2.PlacementGroupStrategy | Literal["auto", "none"]
"""A group for the nodes of a cluster, or which one they get; the strategy ``CLUSTER`` is ``auto``."""


def check_strategy(placement: Placement | None, *, path: str) -> list[Finding]:
    """Check that a placement group puts nodes close together, as far as its strategy is known (UC4061)."""
    if placement is None or isinstance(placement, ClusterPlacement | str):
        return []
    strategy = (
        placement if isinstance(placement, ec2.PlacementGroupStrategy) else placement.strategy
    )  # an imported group has none
    return require(
        strategy in {None, ec2.PlacementGroupStrategy.CLUSTER},
        "UC4061",
        f"got {strategy and strategy.name}, which keeps nodes apart",
        allowed="a placement group with the strategy CLUSTER",
        path=path,
    )


def placement_of(
    scope: Construct,
    source: Capacity | None,
    placement: Placement,
    *,
    alone: bool,
) -> AnyPlacement | None:
    """Return the placement group of one capacity source of a cluster, if any; ``placement`` applies to an only source."""
    if placement == "none":
        return None
    if not isinstance(placement, str | ec2.PlacementGroupStrategy):
        own_group = isinstance(source, (CapacityReservation, ReservationGroup)) and source.placement_group
        if alone or not (own_group or isinstance(source, (CapacityBlock, Spot))):
            return placement
    return ClusterPlacement.for_capacity(scope, named("Placement", source), source)
