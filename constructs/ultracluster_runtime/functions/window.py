"""Time window of a Capacity Block: when it is usable, when to notify, and when to drain. Pure arithmetic."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import (
    DRAIN_BEFORE_END,
    EXTENSION_CLOSES,
    EXTENSION_OPENS,
    TERMINATION_BEFORE_END,
    ULTRASERVER_DRAIN_BEFORE_END,
    ULTRASERVER_TERMINATION_BEFORE_END,
)

NOTICES_BEFORE_END: Final = (EXTENSION_OPENS, timedelta(days=7), timedelta(hours=24), timedelta(hours=2))
"""Times of notices before the end: when extensions open, and in time to buy one."""
CHECKPOINT_LEAD: Final = timedelta(minutes=20)  # default time between the checkpoint request and the drain


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockWindow:
    """Times of one block.

    Raises:
        ValueError: If a time is naive, the end is not after the start, or the lead is negative.
    """

    start: datetime  # delivery of the capacity, timezone-aware
    end: datetime  # end of the block, timezone-aware
    ultraserver: bool = False  # whether it is a block of UltraServers, which EC2 terminates earlier
    checkpoint_lead: timedelta = CHECKPOINT_LEAD  # time between the checkpoint request and the drain

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError("the times of a block must have a time zone, such as UTC")
        if self.end <= self.start:
            raise ValueError(f"a block ends after it starts; got {self.start} to {self.end}")
        if self.checkpoint_lead < timedelta(0):
            raise ValueError(f"the checkpoint lead must not be negative; got {self.checkpoint_lead}")

    @property
    def drain_at(self) -> datetime:
        """End of the usable time: no jobs start, and running jobs are terminated."""
        lead = ULTRASERVER_DRAIN_BEFORE_END if self.ultraserver else DRAIN_BEFORE_END
        return max(self.start, self.end - lead)

    @property
    def checkpoint_at(self) -> datetime:
        """Time of the checkpoint request to running jobs."""
        return max(self.start, self.drain_at - self.checkpoint_lead)

    @property
    def terminates_at(self) -> datetime:
        """Time at which EC2 begins to terminate the instances."""
        lead = ULTRASERVER_TERMINATION_BEFORE_END if self.ultraserver else TERMINATION_BEFORE_END
        return max(self.start, self.end - lead)

    @property
    def notices_at(self) -> tuple[datetime, ...]:
        """Times of the notices within the block, earliest first."""
        return tuple(self.end - before for before in NOTICES_BEFORE_END if self.end - before > self.start)

    @property
    def extension_closes_at(self) -> datetime:
        """Time until which an extension can be bought."""
        return self.end - EXTENSION_CLOSES

    @property
    def usable(self) -> timedelta:
        """Usable time, from the start to the drain."""
        return self.drain_at - self.start
