"""Where nodes come from: a Capacity Block, On-Demand Capacity Reservations, or capacity that nobody reserved.

Nothing here buys or reserves: a template holds the id of what was bought before
(``ultracluster capacity buy``), because a purchase inside a deployment can be repeated by every retry around it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Self

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2

from ultracluster.capacity.capacity_source import CapacitySource
from ultracluster.capacity.unreserved_capacity import OnDemandCapacity, SpotCapacity
from ultracluster_rules.capacity import RESERVATION, RESOURCE_GROUP, check_window
from ultracluster_rules.findings import Finding

__all__ = [
    "RESERVATION_TAG",
    "Capacity",
    "CapacityBlock",
    "CapacityReservation",
    "ReservationGroup",
]

RESERVATION_TAG: Final = "ultracluster:capacity-reservation"
"""Tag of nodes with the id of their reservation, so that permissions can be limited to them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reservation(CapacitySource):
    reservation_id: str
    zone_id: str

    @property
    def reservation_specification(self) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
        """Target of the launch template: a launch that does not name a block never uses it."""
        return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
            capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
                capacity_reservation_id=self.reservation_id
            )
        )

    @property
    def node_tags(self) -> Mapping[str, str]:
        """The id of the reservation."""
        return {RESERVATION_TAG: self.reservation_id}


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityReservation(_Reservation):
    """An On-Demand Capacity Reservation that exists.

    Attributes:
        reservation_id: Its id, ``cr-`` and 17 hexadecimal digits.
        zone_id: Zone id of its Availability Zone, such as ``use2-az3``. Zone ids, because the letters of
            zone names differ from account to account.
        placement_group_name: Cluster placement group that the reservation was made inside. Default: it was
            made outside any group, and its nodes are launched without one.
        name: Name among the sources of a cluster. Default: none.
        max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.
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
        name: str | None = None,
        max_nodes: int | None = None,
    ) -> Self:
        """Bring a reservation by its id.

        Args:
            reservation_id: Id of the reservation, ``cr-`` and 17 hexadecimal digits.
            zone_id: Zone id of its Availability Zone.
            placement_group_name: Cluster placement group that it was made inside. Default: none.
            name: Name among the sources of a cluster. Default: none.
            max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.

        Raises:
            FindingsError: If the id is not one of a reservation (UC4109), the name has another form (UC4123), or
                max_nodes is outside 1 to 1000 (UC4101).
        """
        return cls(
            reservation_id=reservation_id,
            zone_id=zone_id,
            placement_group_name=placement_group_name,
            name=name,
            max_nodes=max_nodes,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReservationGroup(CapacitySource):
    """On-Demand Capacity Reservations of one type and zone, gathered in a resource group.

    EC2 takes whichever of them has room, so reservations can join and leave the group without a deployment. Nodes
    are launched into the group only: without ``capacity-reservations-only``, EC2 would start them on demand when the
    group is full.

    Attributes:
        resource_group_arn: ARN of the resource group.
        zone_id: Zone id of the reservations' Availability Zone.
        placement_group_name: Cluster placement group that all of them were made inside. Default: none.
        name: Name among the sources of a cluster. Default: none.
        max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.
    """

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
        name: str | None = None,
        max_nodes: int | None = None,
    ) -> Self:
        """Bring a resource group of reservations.

        Args:
            resource_group_arn: ARN of the resource group.
            zone_id: Zone id of the reservations' Availability Zone.
            placement_group_name: Cluster placement group that all of them were made inside. Default: none.
            name: Name among the sources of a cluster. Default: none.
            max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.

        Raises:
            FindingsError: If the ARN is not one of a resource group (UC4124), the name has another form (UC4123), or
                max_nodes is outside 1 to 1000 (UC4101).
        """
        return cls(
            resource_group_arn=resource_group_arn,
            zone_id=zone_id,
            placement_group_name=placement_group_name,
            name=name,
            max_nodes=max_nodes,
        )

    @property
    def reservation_specification(self) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
        """Target of the launch template."""
        return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
            capacity_reservation_preference="capacity-reservations-only",
            capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
                capacity_reservation_resource_group_arn=self.resource_group_arn
            ),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock(_Reservation):
    """A Capacity Block for ML that was bought.

    Attributes:
        reservation_id: Its reservation's id, ``cr-`` and 17 hexadecimal digits.
        zone_id: Zone id of its Availability Zone, such as ``use2-az3``.
        start: When it starts, aware. Default: not known to the template.
        end: When it ends, aware; EC2 takes its instances 30 minutes earlier (UltraServers 60).
            Default: not known to the template.
        name: Name among the sources of a cluster. Default: none.
        max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.
    """

    market_type: ClassVar[str] = "capacity-block"
    start: datetime | None = None
    end: datetime | None = None

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
        name: str | None = None,
        max_nodes: int | None = None,
    ) -> Self:
        """Bring a block by the id of its reservation.

        Args:
            reservation_id: Id of the block's reservation, ``cr-`` and 17 hexadecimal digits.
            zone_id: Zone id of its Availability Zone.
            start: When it starts, aware. Default: not known to the template.
            end: When it ends, aware. Default: not known to the template.
            name: Name among the sources of a cluster. Default: none.
            max_nodes: Most nodes from it at one time. Default: the most nodes of the queue.

        Raises:
            FindingsError: If the id is not one of a reservation (UC4109), the end lies before the start (UC4112), the
                name has another form (UC4123), or max_nodes is outside 1 to 1000 (UC4101).
        """
        return cls(
            reservation_id=reservation_id,
            zone_id=zone_id,
            start=start,
            end=end,
            name=name,
            max_nodes=max_nodes,
        )

    @property
    def market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty:
        """Market type of the launch template; it and the target are refused or lost one without the other."""
        return ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty(market_type=self.market_type)


Capacity = CapacityBlock | CapacityReservation | ReservationGroup | OnDemandCapacity | SpotCapacity
"""Any source of nodes."""


def _reservation_id_problems(reservation_id: str) -> list[Finding]:
    if Token.is_unresolved(reservation_id):
        return []
    return RESERVATION.check(reservation_id, path="reservation_id")
