"""Moves of the clock that a client of a running local AWS requests."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ultracluster_local.events.delivery import history
from ultracluster_local.events.timeline import event_settings
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state, regions_with_state

__all__ = ["clock_from_request"]


def clock_from_request(order: Mapping[str, Any]) -> dict[str, Any]:
    """Move the clock and return its time, and what was delivered during the move.

    Args:
        order: ``to``, a time in ISO 8601, and ``most_firings`` of each schedule; empty to read the time only.

    Raises:
        ValueError: If the time lies behind, or something due is not supported.
    """
    before = {region: len(history(region)) for region in regions_with_state("events:history")}
    if "to" in order:
        target = datetime.fromisoformat(order["to"]).astimezone(UTC)
        if target < CLOCK.now():
            raise ValueError(f"the clock is at {CLOCK.now():%Y-%m-%dT%H:%M:%SZ} and moves forward only")
        settings = event_settings()
        usual, settings.most_firings = (
            settings.most_firings,
            int(order.get("most_firings", settings.most_firings)),
        )
        try:
            CLOCK.set(target)
        finally:
            settings.most_firings = usual
    deliveries = [
        one
        for region in regions_with_state("events:history")
        for one in history(region)[before.get(region, 0) :]
    ]
    place = "cloudformation:recorded"
    recorded: list[dict[tuple[str, str], Any]] = [
        region_state(place, region=one, new=dict) for one in regions_with_state(place)
    ]
    return {
        "recorded_only": sorted({kind for kept in recorded for kind, _ in kept}),
        "now": CLOCK.now().isoformat(),
        "stands": CLOCK.stands,
        "delivered": [
            {
                "at": one.moment.isoformat(),
                "target": one.target,
                "event": one.event.get("detail-type") if isinstance(one.event, dict) else None,
                "error": one.error,
            }
            for one in sorted(deliveries, key=lambda one: one.moment)
        ],
    }
