"""Resources that AWS still describes for a while after their deletion."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ultracluster_local.instance.clock import CLOCK

__all__ = ["Leaving"]

_LONGEST = timedelta(minutes=1)


class Leaving:
    """Deleted resources. Each is described once more, within a minute; for all other calls it is gone at once."""

    def __init__(self) -> None:
        self._kept: list[tuple[datetime, Mapping[str, Any]]] = []

    def add(self, described: Mapping[str, Any]) -> None:
        """Keep the last description of a resource."""
        self._kept.append((CLOCK.now() + _LONGEST, described))

    def take(self, wanted: Callable[[Mapping[str, Any]], bool]) -> list[Mapping[str, Any]]:
        """Return the wanted descriptions for the last time."""
        now, kept = CLOCK.now(), self._kept
        self._kept = [one for one in kept if one[0] > now and not wanted(one[1])]
        return [described for until, described in kept if until > now and wanted(described)]
