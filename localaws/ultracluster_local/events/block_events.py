"""What EC2 does at fixed times in the life of a Capacity Block: events, and the end of its instances."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
    INSTANCE_INTERRUPTION_WARNING_EVENT,
    TERMINATION_BEFORE_END,
    ULTRASERVER_TERMINATION_BEFORE_END,
    WARNING_BEFORE_END,
)
from ultracluster_local.events.delivery import deliver_to_rules, new_event
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import regions_of, remembered
from ultracluster_local.services.ec2.capacity import launched_into
from ultracluster_local.services.ec2.capacity_market import Reservation, capacity_market

__all__ = ["deliver_delayed", "next_delayed", "next_in_blocks"]

_INTERRUPTION_WARNING = timedelta(minutes=10)
"""Before the termination. The guide gives this time for the expiration warning, and none for this one: an assumption."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Delayed:
    due: datetime
    event: dict[str, Any]


def next_in_blocks(after: datetime) -> tuple[datetime, list[Callable[[], None]]] | None:
    """Return the next moment of any block after a moment, and what happens then; None if nothing does."""
    coming = [one for one in _happenings() if one[0] > after]
    if not coming:
        return None
    moment = min(one[0] for one in coming)
    return moment, [happen for when, happen in coming if when == moment]


def _happenings() -> Iterator[tuple[datetime, Callable[[], None]]]:
    for region in regions_of("ec2:capacity"):
        for block in list(capacity_market(region).reservations.values()):
            if not block.block_id:
                continue
            start, end = block.period()
            by_ultraserver = block.ultraserver_type
            termination = end - (
                ULTRASERVER_TERMINATION_BEFORE_END if by_ultraserver else TERMINATION_BEFORE_END
            )
            yield start, partial(_send_of_block, region, block, BLOCK_DELIVERED_EVENTS)
            yield (
                end - WARNING_BEFORE_END,
                partial(_send_of_block, region, block, BLOCK_EXPIRATION_WARNING_EVENTS),
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
    for instance in launched_into(region, block.reservation_id):
        detail = {
            "instance-id": instance.id,
            "instance-action": "terminate",
            "instance-termination-time": _text(termination),
            "availability-zone-id": block.segment.zone_id,
            "instance-lifecycle": "capacity-block",
        }
        arn = block.arn.replace(f"capacity-reservation/{block.reservation_id}", f"instance/{instance.id}")
        _send(region, block, INSTANCE_INTERRUPTION_WARNING_EVENT, detail, arn)


def _send(region: str, block: Reservation, name: str, detail: dict[str, str], arn: str) -> None:
    if block.state() != "active":
        return
    market = capacity_market(region)
    event = new_event(region=region, source="aws.ec2", detail_type=name, detail=detail, resources=[arn])
    delayed = remembered("events:delayed", region=region, new=list[_Delayed])
    delayed += [_Delayed(due=CLOCK.now() + market.event_delay, event=event)] * market.event_copies


def _terminate(region: str, block: Reservation) -> None:
    for instance in launched_into(region, block.reservation_id):
        instance.terminate()


def next_delayed(after: datetime) -> datetime | None:
    """Return when the next event arrives whose delivery is delayed; None if there is none."""
    due = [
        one.due
        for region in regions_of("events:delayed")
        for one in remembered("events:delayed", region=region, new=list[_Delayed])
    ]
    return min((one for one in due if one > after), default=None)


def deliver_delayed() -> None:
    """Deliver every event that has arrived by now."""
    for region in regions_of("events:delayed"):
        delayed = remembered("events:delayed", region=region, new=list[_Delayed])
        arrived = [one for one in delayed if one.due <= CLOCK.now()]
        delayed[:] = [one for one in delayed if one.due > CLOCK.now()]
        for one in arrived:
            deliver_to_rules(one.event)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
