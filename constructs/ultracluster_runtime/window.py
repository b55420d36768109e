"""The clock of a Capacity Block: when it may be used, when to warn, when to drain. Pure arithmetic.

The figures are those of the EC2 User Guide (Capacity Blocks for ML, read 2026-11).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = [
    "DRAIN_BEFORE_END",
    "EXTENSION_CLOSES",
    "EXTENSION_OPENS",
    "FURTHEST_START",
    "LONGEST_BLOCK",
    "NOTICES_BEFORE_END",
    "ULTRASERVER_DRAIN_BEFORE_END",
    "BlockWindow",
    "block_durations",
    "is_block_duration",
]

DRAIN_BEFORE_END = timedelta(minutes=40)
"""Instances: EC2 starts to terminate 30 minutes before the end and warns 10 minutes before that."""
ULTRASERVER_DRAIN_BEFORE_END = timedelta(minutes=70)
"""UltraServers: EC2 starts to terminate 60 minutes before the end."""
_TERMINATION_BEFORE_END = timedelta(minutes=30)
_ULTRASERVER_TERMINATION_BEFORE_END = timedelta(minutes=60)
NOTICES_BEFORE_END = (timedelta(hours=24), timedelta(hours=2))
"""When people are told that the end comes near, in time to extend."""
EXTENSION_OPENS = timedelta(days=57)
"""An extension can be bought from this long before the end."""
EXTENSION_CLOSES = timedelta(hours=1)
"""An extension can be bought until this long before the end."""
FURTHEST_START = timedelta(weeks=8)
"""Blocks are offered with a start up to this far ahead."""
LONGEST_BLOCK = timedelta(days=182)
"""The longest block, extensions included."""

_DAY_HOURS = 24
_DAILY_UP_TO = 14  # days; beyond, only whole weeks are sold


def is_block_duration(hours: int) -> bool:
    """Whether AWS sells blocks of this many hours: 1 to 14 days, then whole weeks up to 182 days."""
    days, rest = divmod(hours, _DAY_HOURS)
    if rest or not 1 <= days <= LONGEST_BLOCK.days:
        return False
    return days <= _DAILY_UP_TO or days % 7 == 0


def block_durations(*, min_hours: int, max_hours: int) -> tuple[int, ...]:
    """Every duration in hours that AWS sells from `min_hours` to `max_hours`, both included."""
    every = range(_DAY_HOURS, LONGEST_BLOCK.days * _DAY_HOURS + 1, _DAY_HOURS)
    return tuple(hours for hours in every if min_hours <= hours <= max_hours and is_block_duration(hours))


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockWindow:
    """The times of one block.

    Attributes:
        start: When the capacity is delivered. Aware.
        end: When the block ends. Aware.
        ultraserver: Whether it is a block of an UltraServer, which EC2 terminates earlier.
            Default: a block of instances.
        checkpoint_lead: How long before the drain running jobs are told to write a checkpoint. Default: 20 minutes.

    Raises:
        ValueError: If a time is naive, the end is not after the start, or the lead is negative.
    """

    start: datetime
    end: datetime
    ultraserver: bool = False
    checkpoint_lead: timedelta = timedelta(minutes=20)

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError("the times of a block must be aware; give them in UTC")
        if self.end <= self.start:
            raise ValueError(f"a block ends after it starts; got {self.start} to {self.end}")
        if self.checkpoint_lead < timedelta(0):
            raise ValueError(f"the checkpoint lead must not be negative; got {self.checkpoint_lead}")

    @property
    def drain_at(self) -> datetime:
        """When nothing may start any more and what runs is ended: the end of the usable time."""
        lead = ULTRASERVER_DRAIN_BEFORE_END if self.ultraserver else DRAIN_BEFORE_END
        return max(self.start, self.end - lead)

    @property
    def checkpoint_at(self) -> datetime:
        """When running jobs are told to write a checkpoint."""
        return max(self.start, self.drain_at - self.checkpoint_lead)

    @property
    def terminates_at(self) -> datetime:
        """When EC2 itself begins to terminate the instances."""
        lead = _ULTRASERVER_TERMINATION_BEFORE_END if self.ultraserver else _TERMINATION_BEFORE_END
        return max(self.start, self.end - lead)

    @property
    def notices_at(self) -> tuple[datetime, ...]:
        """When people are told that the end comes near: those notices that fall inside the block, earliest first."""
        return tuple(self.end - before for before in NOTICES_BEFORE_END if self.end - before > self.start)

    @property
    def extension_opens_at(self) -> datetime:
        """From when on an extension can be bought."""
        return self.end - EXTENSION_OPENS

    @property
    def extension_closes_at(self) -> datetime:
        """Until when an extension can be bought."""
        return self.end - EXTENSION_CLOSES

    @property
    def usable(self) -> timedelta:
        """The time in which jobs can run: from the start to the drain."""
        return self.drain_at - self.start

    def remaining(self, now: datetime) -> timedelta:
        """How long a job that starts at `now` can run: zero outside the usable time."""
        return max(timedelta(0), self.drain_at - max(self.start, now.astimezone(UTC)))
