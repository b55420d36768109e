"""The time that the local AWS believes in; tests can set it and move it."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

__all__ = ["CLOCK", "Clock"]


class Clock:
    """A clock that follows the real one until it is set; from then on it stands still until it is moved.

    What real time brings about happens by itself nowhere; what lies between two positions of the clock happens when
    it is moved forward from one to the other, in order, before `set` or `advance` returns.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moving = threading.RLock()
        self._fixed: datetime | None = None
        self._live_through: Callable[[datetime, datetime], None] | None = None

    def now(self) -> datetime:
        """Return the time, in UTC."""
        with self._lock:
            return self._fixed or datetime.now(UTC)

    @property
    def stands(self) -> bool:
        """Whether the clock was set, so that it does not follow the real one."""
        with self._lock:
            return self._fixed is not None

    def set(self, moment: datetime) -> None:
        """Stand still at `moment`; if that lies ahead, let everything happen that is due until then.

        Raises:
            ValueError: If `moment` has no time zone, or something is due that the local AWS cannot do; the clock then
                stands where that is due.
        """
        if moment.tzinfo is None:
            raise ValueError(f"a moment needs a time zone; got {moment!r}")
        target = moment.astimezone(UTC)
        with self._moving:
            before = self.now()
            if self._live_through is not None and target > before:
                self._live_through(before, target)
            self.stand_at(target)

    def advance(self, duration: timedelta) -> None:
        """Move on by `duration`, as `set` does, and stand still there."""
        with self._moving:
            self.set(self.now() + duration)

    def follow_real_time(self) -> None:
        """Follow the real clock again; nothing happens meanwhile."""
        with self._lock:
            self._fixed = None

    def stand_at(self, moment: datetime) -> None:
        """Stand still at `moment`, in UTC, without anything happening."""
        with self._lock:
            self._fixed = moment

    def when_moved(self, live_through: Callable[[datetime, datetime], None] | None) -> None:
        """Say what lives through the time between two positions; None for nothing."""
        self._live_through = live_through


CLOCK = Clock()
"""The one clock of this process: moto's state is one for each process too."""
