"""What the services that we add to moto remember, apart from moto's own backends."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["forget_everything", "regions_of", "remembered"]

T = TypeVar("T")

_STATE: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)


def remembered(name: str, *, region: str, new: Callable[[], T]) -> T:
    """Return what is kept under `name` for `region`, made by `new` on first use."""
    place = _STATE[name, region]
    if "value" not in place:
        place["value"] = new()
    value: T = place["value"]
    return value


def regions_of(name: str) -> list[str]:
    """Return the Regions that something is kept for under `name`."""
    return sorted(region for kept, region in list(_STATE) if kept == name)


def forget_everything() -> None:
    """Empty the state of every service that we add."""
    _STATE.clear()
