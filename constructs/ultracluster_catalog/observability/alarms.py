"""Alarm thresholds of a cluster: defaults and bounds."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

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
"""Minimum and maximum of each threshold."""

REMINDING_ALARMS: Final = frozenset({"Unused", "DrainComing"})
"""IDs of alarms about unused capacity and the end of a block. They do not indicate a bad deployment."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmThresholds:
    """Alarm thresholds of a cluster.

    Attributes:
        idle_percent: NeuronCore utilization below which a node is idle, 0 to 100. Default: 5.
        idle_minutes: Minutes for which nodes may be idle or missing in paid capacity, 1 to 60. Default: 15.
        drain_minutes: Minutes before the drain of a Capacity Block at which the alarm notifies, 1 to 10,080. Default: 120.
        wait_minutes: Minutes for which a job that could run may wait, 1 to 1,440. Default: 60.
        collective_percent: Percentage of a step spent in collectives, 1 to 100. Default: 25.
        stalled_steps: Time without a step, as a multiple of the median step, 2 to 1,000. Default: 10, but at least five
            minutes.
        free_percent: Free percentage of the file system, 1 to 90. Default: 10.
        cache_misses: Graphs compiled within 15 minutes while nodes run, 1 to 100,000. Default: 10.
    """

    idle_percent: int = 5
    idle_minutes: int = 15
    drain_minutes: int = 120
    wait_minutes: int = 60
    collective_percent: int = 25
    stalled_steps: int = 10
    free_percent: int = 10
    cache_misses: int = 10
