"""When the alarms of a cluster go off: defaults, and the bounds that a figure of one's own must keep."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["REMINDING_ALARMS", "THRESHOLD_BOUNDS", "AlarmThresholds"]

THRESHOLD_BOUNDS: Final = MappingProxyType(
    {
        "idle_percent": (0, 100),
        "idle_minutes": (1, 60),
        "drain_minutes": (1, 10_080),
        "wait_minutes": (1, 1_440),
        "collective_percent": (1, 100),
        "stalled_steps": (2, 1_000),
        "free_percent": (1, 90),
        "cache_misses": (1, 100_000),
    }
)
"""The least and the most that each threshold can be."""

REMINDING_ALARMS: Final = frozenset({"Unused", "DrainComing"})
"""Ids of the alarms that tell of idle money and of a block's end, and not that what was deployed is bad."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmThresholds:
    """Where the alarms of a cluster go off.

    Attributes:
        idle_percent: NeuronCore utilisation of a node below which it is idle, 0 to 100. Default: 5.
        idle_minutes: How long nodes may be idle or missing in paid capacity, 1 to 60. Default: 15.
        drain_minutes: How long before the drain of a Capacity Block people are told, 1 to 10,080. Default: 120.
        wait_minutes: How long a job that could run may wait, 1 to 1,440. Default: 60.
        collective_percent: Share of a step in collectives, 1 to 100. Default: 25.
        stalled_steps: Time without a step, as a multiple of the median step, 2 to 1,000. Default: 10, and five minutes
            at least.
        free_percent: Free part of the file system, 1 to 90. Default: 10.
        cache_misses: Graphs that are compiled within 15 minutes while nodes run, 1 to 100,000. Default: 10.
    """

    idle_percent: int = 5
    idle_minutes: int = 15
    drain_minutes: int = 120
    wait_minutes: int = 60
    collective_percent: int = 25
    stalled_steps: int = 10
    free_percent: int = 10
    cache_misses: int = 10
