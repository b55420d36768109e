"""Where nodes come from: a Capacity Block, an On-Demand Capacity Reservation, or on-demand capacity.

Nothing here buys or reserves: a template holds the id of what was bought before
(``ultracluster capacity buy``), because a purchase inside a deployment can be repeated by every retry around it.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Self

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2

from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_catalog.identifiers import RESERVATION_ID

__all__ = ["RESERVATION_TAG", "CapacityBlock", "CapacityReservation"]

RESERVATION_TAG: Final = "ultracluster:capacity-reservation"
"""Tag of nodes with the id of their reservation, so that permissions can be limited to them."""

_OFFERING_ID = re.compile(r"cb[r]?-")


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityReservation:
    """An On-Demand Capacity Reservation that exists.

    Attributes:
        reservation_id: Its id, ``cr-`` and 17 hexadecimal digits.
        zone_id: Zone id of its Availability Zone, such as ``use2-az3``. Zone ids, because the letters of
            zone names differ from account to account.
        placement_group_name: Cluster placement group that the reservation was made inside. Default: it was
            made outside any group, and its nodes are launched without one.
    """

    reservation_id: str
    zone_id: str
    placement_group_name: str | None = None

    def __post_init__(self) -> None:
        _check_reservation_id(self.reservation_id)

    @classmethod
    def from_reservation_id(
        cls, reservation_id: str, *, zone_id: str, placement_group_name: str | None = None
    ) -> Self:
        """Bring a reservation by its id.

        Args:
            reservation_id: Id of the reservation, ``cr-`` and 17 hexadecimal digits.
            zone_id: Zone id of its Availability Zone.
            placement_group_name: Cluster placement group that it was made inside. Default: none.

        Raises:
            FindingsError: If the id is not one of a reservation (UC4109).
        """
        return cls(reservation_id=reservation_id, zone_id=zone_id, placement_group_name=placement_group_name)

    @property
    def market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
        """Market type of the launch template: none, which is on-demand."""
        return None

    @property
    def reservation_specification(self) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
        """Target of the launch template."""
        return _target(self.reservation_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock:
    """A Capacity Block for ML that was bought.

    Attributes:
        reservation_id: Its reservation's id, ``cr-`` and 17 hexadecimal digits.
        zone_id: Zone id of its Availability Zone, such as ``use2-az3``.
        start: When it starts, aware. Default: not known to the template.
        end: When it ends, aware; EC2 takes its instances 30 minutes earlier (UltraServers 60).
            Default: not known to the template.
    """

    market_type: ClassVar[str] = "capacity-block"
    reservation_id: str
    zone_id: str
    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        _check_reservation_id(self.reservation_id)
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise FindingsError(
                [
                    Finding(
                        code="UC4112",
                        problem=f"the block ends {self.end.isoformat()}, before its start {self.start.isoformat()}",
                        remedy="Take both from `ultracluster capacity status`",
                        path="end",
                    )
                ]
            )

    @classmethod
    def from_reservation_id(
        cls, reservation_id: str, *, zone_id: str, start: datetime | None = None, end: datetime | None = None
    ) -> Self:
        """Bring a block by the id of its reservation.

        Args:
            reservation_id: Id of the block's reservation, ``cr-`` and 17 hexadecimal digits.
            zone_id: Zone id of its Availability Zone.
            start: When it starts, aware. Default: not known to the template.
            end: When it ends, aware. Default: not known to the template.

        Raises:
            FindingsError: If the id is not one of a reservation (UC4109), or the end lies before the
                start (UC4112).
        """
        return cls(reservation_id=reservation_id, zone_id=zone_id, start=start, end=end)

    @property
    def market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty:
        """Market type of the launch template; it and the target are refused or lost one without the other."""
        return ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty(market_type=self.market_type)

    @property
    def reservation_specification(self) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
        """Target of the launch template: a block is never used by a launch that does not name it."""
        return _target(self.reservation_id)


def _target(reservation_id: str) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
    return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
        capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
            capacity_reservation_id=reservation_id
        )
    )


def _check_reservation_id(reservation_id: str) -> None:
    if Token.is_unresolved(reservation_id) or re.fullmatch(RESERVATION_ID, reservation_id):
        return
    offering = _OFFERING_ID.match(reservation_id) is not None
    raise FindingsError(
        [
            Finding(
                code="UC4109",
                problem=f"got {quote(reservation_id)}"
                + (", which is an offering (a quote) or a block, not a reservation" if offering else ""),
                allowed="cr- and 17 hexadecimal digits in lower case",
                remedy="`ultracluster capacity status` prints the reservation id of a purchase",
                path="reservation_id",
            )
        ]
    )
