"""EC2's actions at fixed times in the life of a Capacity Block: events and the termination of its instances."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from ultracluster_local.events.delivery import deliver_to_rules, new_event
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state, regions_with_state
from ultracluster_local.services.ec2.capacity import instances_in
from ultracluster_local.services.ec2.capacity_block_terms import (
    DELIVERED_EVENTS,
    EXPIRATION_WARNING_BEFORE_END,
    EXPIRATION_WARNING_EVENTS,
    INTERRUPTION_WARNING_EVENT,
)
from ultracluster_local.services.ec2.capacity_market import Reservation, capacity_market

__all__ = ["deliver_delayed", "next_delayed", "next_in_blocks"]

_INTERRUPTION_WARNING = timedelta(minutes=10)
"""Time before termination. An assumption: the guide states it for the expiration warning only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Delayed:
    due: datetime
    event: dict[str, Any]


def next_in_blocks(after: datetime) -> tuple[datetime, list[Callable[[], None]]] | None:
    """Return the next time after a given one at which events of a block are due, and these events; None if there are none."""
    coming = [one for one in _happenings() if one[0] > after]
    if not coming:
        return None
    moment = min(one[0] for one in coming)
    return moment, [happen for when, happen in coming if when == moment]


def _happenings() -> Iterator[tuple[datetime, Callable[[], None]]]:
    for region in regions_with_state("ec2:capacity"):
        for block in list(capacity_market(region).reservations.values()):
            if not block.block_id:
                continue
            start, end = block.period()
            termination = block.termination()
            yield start, partial(_send_of_block, region, block, DELIVERED_EVENTS)
            yield (
                end - EXPIRATION_WARNING_BEFORE_END,
                partial(_send_of_block, region, block, EXPIRATION_WARNING_EVENTS),
            )
            yield termination - _INTERRUPTION_WARNING, partial(_warn_instances, region, block, termination)
            yield termination, partial(_terminate, region, block)


def _send_of_block(region: str, block: Reservation, names: tuple[str, str]) -> None:
    _, end = block.period()
    current, older = names
    detail = {"capacity-reservation-id": block.reservation_id, "end-date": _text(end)}
    name = older if capacity_market(region).older_event_names else current
    _send(region, block, name, detail, block.arn)


def _warn_instances(region: str, block: Reservation, termination: datetime) -> None:
    for instance in instances_in(region, block.reservation_id):
        detail = {
            "instance-id": instance.id,
            "instance-action": "terminate",
            "instance-termination-time": _text(termination),
            "availability-zone-id": block.segment.zone_id,
            "instance-lifecycle": "capacity-block",
        }
        arn = block.arn.replace(f"capacity-reservation/{block.reservation_id}", f"instance/{instance.id}")
        _send(region, block, INTERRUPTION_WARNING_EVENT, detail, arn)


def _send(region: str, block: Reservation, name: str, detail: dict[str, str], arn: str) -> None:
    if block.state() != "active":
        return
    market = capacity_market(region)
    event = new_event(region=region, source="aws.ec2", detail_type=name, detail=detail, resources=[arn])
    delayed = region_state("events:delayed", region=region, new=list[_Delayed])
    delayed += [_Delayed(due=CLOCK.now() + market.event_delay, event=event)] * market.event_copies


def _terminate(region: str, block: Reservation) -> None:
    for instance in instances_in(region, block.reservation_id):
        instance.terminate()


def next_delayed(after: datetime) -> datetime | None:
    """Return the delivery time of the next delayed event, or None."""
    due = [
        one.due
        for region in regions_with_state("events:delayed")
        for one in region_state("events:delayed", region=region, new=list[_Delayed])
    ]
    return min((one for one in due if one > after), default=None)


def deliver_delayed() -> None:
    """Deliver all delayed events that are due."""
    for region in regions_with_state("events:delayed"):
        delayed = region_state("events:delayed", region=region, new=list[_Delayed])
        arrived = [one for one in delayed if one.due <= CLOCK.now()]
        delayed[:] = [one for one in delayed if one.due > CLOCK.now()]
        for one in arrived:
            deliver_to_rules(one.event)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
