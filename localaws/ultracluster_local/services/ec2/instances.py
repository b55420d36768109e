"""Instances in reservations: a launch takes from the reservation that it targets, and is refused when that is full.

moto launches instances and knows neither reservations nor our launch templates.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from moto.ec2.responses import EC2Response

from ultracluster_local.services.ec2.capacity import find_reservation, launched_into
from ultracluster_local.services.ec2.capacity_market import Reservation
from ultracluster_local.services.ec2.launch_templates import template_data
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["install"]

_CAPACITY_BLOCK = "capacity-block"


def install() -> None:
    """Let RunInstances know launch templates and reservations."""
    EC2Response.run_instances = _into_reservations(EC2Response.run_instances)


def _into_reservations(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def run_instances(response: Any) -> Any:
        given = response.params
        request = Request(operation="RunInstances", parameters=given, region=response.region)
        template = given.pop("LaunchTemplate", None)
        if template:
            for key, value in template_data(response.region, template).items():
                given.setdefault(key, value)
        reservation = _targeted(request)
        if reservation is None:
            return original(response)
        # EC2 launches as many of MinCount to MaxCount as it can; moto launches MinCount.
        count = min(int(given["MaxCount"]), _room(request, reservation))
        if count < int(given["MinCount"]):
            raise ServiceError(
                "ReservationCapacityExceeded",
                f"The requested reservation {reservation.reservation_id} does not have sufficient compatible and "
                "available capacity for this request.",
            )
        given["MinCount"] = count
        answer = original(response)
        for instance in answer.result.instances:
            instance.capacity_reservation_id = reservation.reservation_id
            instance.lifecycle = _CAPACITY_BLOCK if reservation.block_id else None
        return answer

    return run_instances


def _targeted(request: Request) -> Reservation | None:
    specification = request.parameters.get("CapacityReservationSpecification") or {}
    target = specification.get("CapacityReservationTarget") or {}
    market: Mapping[str, Any] = request.parameters.get("InstanceMarketOptions") or {}
    if not target.get("CapacityReservationId"):
        if market.get("MarketType") == _CAPACITY_BLOCK or target:
            raise ServiceError(
                "InvalidParameterCombination",
                "The local AWS launches into a reservation by its id only: give CapacityReservationTarget."
                "CapacityReservationId.",
            )
        return None
    reservation = find_reservation(request, target["CapacityReservationId"])
    if bool(reservation.block_id) != (market.get("MarketType") == _CAPACITY_BLOCK):
        raise ServiceError(
            "InvalidParameterCombination",
            "The market type capacity-block goes with the reservation of a Capacity Block, and with no other.",
        )
    if reservation.segment.instance_type != request.parameters.get("InstanceType"):
        raise ServiceError(
            "InvalidParameterValue",
            f"{reservation.reservation_id} holds {reservation.segment.instance_type} and no other type.",
        )
    return reservation


def _room(request: Request, reservation: Reservation) -> int:
    return reservation.available() - len(launched_into(request.region, reservation.reservation_id))
