"""Capacity sources: Capacity Blocks and On-Demand Capacity Reservations; see also unreserved_capacity.

Nothing here buys or reserves capacity. A template contains the ID of an earlier purchase (``ultracluster capacity buy``),
because retries of a deployment could repeat a purchase inside it. Attributes are checked by the construct that uses the
source, together with its own arguments.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Self, Unpack

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2

from ultracluster.capacity.capacity_source import CapacitySource, SourceOptions
from ultracluster.capacity.unreserved_capacity import OnDemandCapacity, SpotCapacity
from ultracluster_catalog.names.cluster_tag import RESERVATION_TAG
from ultracluster_rules.capacity import RESERVATION, RESOURCE_GROUP, AllocationStrategy, check_window
from ultracluster_rules.findings import Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reservation(CapacitySource):
    prepaid: ClassVar[bool] = True
    reservation_id: str
    zone_id: str

    @property
    def reservation_specification(self) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
        """Reservation target of the launch template; instances launch into a block only if they name it."""
        return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
            capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
                capacity_reservation_id=self.reservation_id
            )
        )

    @property
    def node_tags(self) -> Mapping[str, str]:
        """Tag with the reservation ID."""
        return {RESERVATION_TAG: self.reservation_id}


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityReservation(_Reservation):
    """An existing On-Demand Capacity Reservation.

    Attributes:
        reservation_id: Reservation ID: ``cr-`` and 17 hexadecimal digits.
        zone_id: Its Availability Zone ID, such as ``use2-az3``. Availability Zone names differ between accounts.
        placement_group_name: Cluster placement group that the reservation was created in. Default: none, and the nodes
            are launched without one.
        name, max_nodes, allocation_strategy, launched_by: See `CapacitySource`.
    """

    placement_group_name: str | None = None

    def _problems(self) -> list[Finding]:
        return _reservation_id_problems(self.reservation_id)

    @classmethod
    def from_reservation_id(
        cls,
        reservation_id: str,
        *,
        zone_id: str,
        placement_group_name: str | None = None,
        **options: Unpack[SourceOptions],
    ) -> Self:
        """Import a reservation by its ID.

        Args:
            reservation_id: ID of the reservation, ``cr-`` and 17 hexadecimal digits.
            zone_id: Its Availability Zone ID.
            placement_group_name: Cluster placement group that it was created in. Default: none.
            **options: Name, maximum number of nodes and other attributes of `CapacitySource`.
        """
        return cls(
            reservation_id=reservation_id,
            zone_id=zone_id,
            placement_group_name=placement_group_name,
            **options,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReservationGroup(CapacitySource):
    """On-Demand Capacity Reservations of one instance type and Availability Zone, in a resource group.

    EC2 uses any of them with room, so reservations can join and leave the group without a deployment. The launch template
    targets ``capacity-reservations-only``: otherwise EC2 would start On-Demand instances when the group is full.

    Attributes:
        resource_group_arn: ARN of the resource group.
        zone_id: Availability Zone ID of the reservations.
        placement_group_name: Cluster placement group that all of them were created in. Default: none.
        name, max_nodes, allocation_strategy, launched_by: See `CapacitySource`.
    """

    prepaid: ClassVar[bool] = True
    resource_group_arn: str
    zone_id: str
    placement_group_name: str | None = None

    def _problems(self) -> list[Finding]:
        arn = self.resource_group_arn
        return [] if Token.is_unresolved(arn) else RESOURCE_GROUP.check(arn, path="resource_group_arn")

    @classmethod
    def from_resource_group_arn(
        cls,
        resource_group_arn: str,
        *,
        zone_id: str,
        placement_group_name: str | None = None,
        **options: Unpack[SourceOptions],
    ) -> Self:
        """Import a resource group of reservations.

        Args:
            resource_group_arn: ARN of the resource group.
            zone_id: Availability Zone ID of the reservations.
            placement_group_name: Cluster placement group that all of them were created in. Default: none.
            **options: Name, maximum number of nodes and other attributes of `CapacitySource`.
        """
        return cls(
            resource_group_arn=resource_group_arn,
            zone_id=zone_id,
            placement_group_name=placement_group_name,
            **options,
        )

    @property
    def reservation_specification(self) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
        """Reservation target of the launch template."""
        return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
            capacity_reservation_preference="capacity-reservations-only",
            capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
                capacity_reservation_resource_group_arn=self.resource_group_arn
            ),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock(_Reservation):
    """A purchased Capacity Block for ML.

    Attributes:
        reservation_id: ID of its reservation: ``cr-`` and 17 hexadecimal digits.
        zone_id: Its Availability Zone ID, such as ``use2-az3``.
        start: Start time, timezone-aware. Default: unknown to the template.
        end: End time, timezone-aware; EC2 terminates instances 30 minutes earlier (UltraServers: 60 minutes).
            Default: unknown to the template.
        name, max_nodes, allocation_strategy, launched_by: See `CapacitySource`.
    """

    market_type: ClassVar[str] = "capacity-block"
    start: datetime | None = None
    end: datetime | None = None
    allocation_strategy: AllocationStrategy = "best-fit"

    def _problems(self) -> list[Finding]:
        findings = _reservation_id_problems(self.reservation_id)
        findings += [finding.at("end") for finding in check_window(self.start, self.end)]
        return findings

    @classmethod
    def from_reservation_id(
        cls,
        reservation_id: str,
        *,
        zone_id: str,
        start: datetime | None = None,
        end: datetime | None = None,
        **options: Unpack[SourceOptions],
    ) -> Self:
        """Import a Capacity Block by reservation ID.

        Args:
            reservation_id: ID of the block's reservation, ``cr-`` and 17 hexadecimal digits.
            zone_id: Its Availability Zone ID.
            start: Start time, timezone-aware. Default: unknown to the template.
            end: End time, timezone-aware. Default: unknown to the template.
            **options: Name, maximum number of nodes and other attributes of `CapacitySource`.
        """
        return cls(reservation_id=reservation_id, zone_id=zone_id, start=start, end=end, **options)

    @property
    def market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty:
        """Market type of the launch template; a Capacity Block needs both this and the reservation target."""
        return ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty(market_type=self.market_type)


Capacity = CapacityBlock | CapacityReservation | ReservationGroup | OnDemandCapacity | SpotCapacity
"""Any capacity source."""


def _reservation_id_problems(reservation_id: str) -> list[Finding]:
    if Token.is_unresolved(reservation_id):
        return []
    return RESERVATION.check(reservation_id, path="reservation_id")
