"""The time that the local AWS believes in; tests can set it and move it."""

import threading
from datetime import UTC, datetime, timedelta

__all__ = ["CLOCK", "Clock"]


class Clock:
    """A clock that follows the real one until it is set; from then on it stands still until it is moved."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fixed: datetime | None = None

    def now(self) -> datetime:
        """Return the time, in UTC."""
        with self._lock:
            return self._fixed or datetime.now(UTC)

    def set(self, moment: datetime) -> None:
        """Stand still at `moment`.

        Raises:
            ValueError: If `moment` has no time zone.
        """
        if moment.tzinfo is None:
            raise ValueError(f"a moment needs a time zone; got {moment!r}")
        with self._lock:
            self._fixed = moment.astimezone(UTC)

    def advance(self, duration: timedelta) -> None:
        """Move on by `duration` and stand still there."""
        self.set(self.now() + duration)

    def follow_real_time(self) -> None:
        """Follow the real clock again."""
        with self._lock:
            self._fixed = None


CLOCK = Clock()
"""The one clock of this process: moto's state is one for each process too."""
