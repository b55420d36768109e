"""State of the services that we add to moto, apart from moto's own backends."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["clear_state", "region_state", "regions_with_state"]

T = TypeVar("T")

_STATE: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)


def region_state(name: str, *, region: str, new: Callable[[], T]) -> T:
    """Return the state `name` of `region`, created by `new` on first use."""
    place = _STATE[name, region]
    if "value" not in place:
        place["value"] = new()
    value: T = place["value"]
    return value


def regions_with_state(name: str) -> list[str]:
    """Return the Regions that have a state `name`."""
    return sorted(region for kept, region in list(_STATE) if kept == name)


def clear_state() -> None:
    """Discard the state of all services that we add."""
    _STATE.clear()
