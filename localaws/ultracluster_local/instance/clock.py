"""The clock of the local AWS, which tests can set and move."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

__all__ = ["CLOCK", "Clock"]


class Clock:
    """A clock that follows real time until it is set, and then stands still until it is moved.

    Real time alone triggers nothing. Events between two positions of the clock happen when
    it is moved forward, in order, before `set` or `advance` returns.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moving = threading.RLock()
        self._fixed: datetime | None = None
        self._run_due: Callable[[datetime, datetime], None] | None = None

    def now(self) -> datetime:
        """Return the time, in UTC."""
        with self._lock:
            return self._fixed or datetime.now(UTC)

    @property
    def stands(self) -> bool:
        """Whether the clock was set, so that it no longer follows real time."""
        with self._lock:
            return self._fixed is not None

    def set(self, moment: datetime) -> None:
        """Set the clock to `moment` and stop it; if that lies ahead, run everything due until then.

        Raises:
            ValueError: If `moment` has no time zone, or something due is not supported; the clock then
                stops where it is due.
        """
        if moment.tzinfo is None:
            raise ValueError(f"specify a time with a time zone; got {moment!r}")
        target = moment.astimezone(UTC)
        with self._moving:
            before = self.now()
            if self._run_due is not None and target > before:
                self._run_due(before, target)
            self.stand_at(target)

    def advance(self, duration: timedelta) -> None:
        """Move the clock forward by `duration`, as `set` does."""
        with self._moving:
            self.set(self.now() + duration)

    def follow_real_time(self) -> None:
        """Follow real time again without running what was due."""
        with self._lock:
            self._fixed = None

    def stand_at(self, moment: datetime) -> None:
        """Set the clock to `moment` in UTC without running what is due."""
        with self._lock:
            self._fixed = moment

    def on_move(self, run_due: Callable[[datetime, datetime], None] | None) -> None:
        """Register the function that runs what is due between two positions; None for nothing."""
        self._run_due = run_due


CLOCK = Clock()
"""The clock of this process; moto's state is per process too."""
