"""State of a block's life cycle between two runs: checkpoint requests, sent notices, refused nodes and node usage.

Everything that guards money or jobs is read from AWS in every run. Only what AWS does not keep is stored here, so that
losing it costs a repeated notice and a gap in the report, never an open queue or a job without a checkpoint request.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ultracluster_runtime.functions.responses import UNREADABLE

OUTSIDE = "outside "
"""Start of the names of notices about nodes that run outside their block; the ID of the instance follows."""

REFUSED = "refused "
"""Start of the names of notices about nodes that refused to join; the ID of the instance follows."""

SICK = "sick "
"""Start of the names of notices about sick nodes; the ID of the instance follows."""

REPLACED = "replaced "
"""Start of the names of notices about sick nodes that were terminated; the ID of the instance follows."""

LONGEST_SAMPLE = timedelta(minutes=5)
"""Maximum gap between two observations; a longer one counts as unobserved, and nothing is extrapolated over it."""

_EARLIEST_YEAR, _LATEST_YEAR = 2024, 2200  # Capacity Blocks exist since 2023-10-31
_LARGEST_COUNT = 10**11  # instance-seconds of 256 instances in 12 years

_REMEMBERED = timedelta(hours=2)
"""Time for which a replacement is stored: longer than the hour in which they are counted, and than EC2 takes to end a node."""

_KNOWN_TO_EC2 = timedelta(hours=1)
"""Time after the end of a block in which EC2 still describes it, so that it is reported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleState:
    """Stored state of one reservation."""

    reservation_id: str  # reservation that the state belongs to
    start: datetime | None = None
    end: datetime | None = None
    instances: int = 0  # highest number of instances while it was active
    sampled_at: datetime | None = None  # time of the last usage sample
    observed_seconds: int = 0
    busy_seconds: int = 0  # observed node-seconds in which a job ran on the node
    # Time of the first checkpoint request for this end, by node
    checkpoint_requests: Mapping[str, datetime] = field(default_factory=dict)
    notices: frozenset[str] = frozenset()  # names of the notices sent for this end
    # Launch time of each node that refused to join since the last one that joined
    refusals: Mapping[str, datetime] = field(default_factory=dict)
    closed: bool = False  # whether the environment is closed because of refusals
    # When a person last enabled an environment that was closed because of refusals
    reopened_at: datetime | None = None
    # Since when jobs wait and the block has no node
    starved_since: datetime | None = None
    # Time since which no further job starts on a sick node, by node
    drained: Mapping[str, datetime] = field(default_factory=dict)
    # Time of the first request for a checkpoint before a sick node is replaced, by that node
    asked: Mapping[str, datetime] = field(default_factory=dict)
    # Time at which a sick node was terminated, by node, of the last hours
    replaced: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str, *, reservation_id: str) -> "LifecycleState":
        """Parse a stored state; return a new state for another reservation, unreadable text or impossible values."""
        try:
            stored = json.loads(text)
            if stored.get("reservation_id") != reservation_id:
                return cls(reservation_id=reservation_id)
            return cls(
                reservation_id=reservation_id,
                start=_time(stored["start"]),
                end=_time(stored["end"]),
                instances=_count(stored["instances"]),
                sampled_at=_time(stored["sampled_at"]),
                observed_seconds=_count(stored["observed_seconds"]),
                busy_seconds=_count(stored["busy_seconds"]),
                checkpoint_requests=_times(stored["told"]),
                notices=frozenset(map(str, stored["notices"])),
                refusals=_times(stored.get("refusals", {})),
                closed=bool(stored.get("closed", False)),
                reopened_at=_time(stored.get("reopened_at")),
                starved_since=_time(stored.get("starved_since")),
                drained=_times(stored.get("drained", {})),
                asked=_times(stored.get("asked", {})),
                replaced=_times(stored.get("replaced", {})),
            )
        except (*UNREADABLE, RecursionError):
            return cls(reservation_id=reservation_id)

    def to_json(self) -> str:
        """Serialize to JSON."""
        stored: dict[str, Any] = {
            "reservation_id": self.reservation_id,
            "start": _text(self.start),
            "end": _text(self.end),
            "instances": self.instances,
            "sampled_at": _text(self.sampled_at),
            "observed_seconds": self.observed_seconds,
            "busy_seconds": self.busy_seconds,
            "told": _epoch_seconds(self.checkpoint_requests),
            "notices": sorted(self.notices),
            "refusals": _epoch_seconds(self.refusals),
            "closed": self.closed,
            "reopened_at": _text(self.reopened_at),
            "starved_since": _text(self.starved_since),
            "drained": _epoch_seconds(self.drained),
            "asked": _epoch_seconds(self.asked),
            "replaced": _epoch_seconds(self.replaced),
        }
        return json.dumps(stored, separators=(",", ":"))

    def with_block(self, *, start: datetime, end: datetime, instances: int) -> "LifecycleState":
        """Return the state with what EC2 reports now. Another end starts new checkpoint requests and notices."""
        current = self if end == self.end else replace(self, checkpoint_requests={}, notices=self._lasting)
        instances = max(self.instances, instances)
        if (start, end, instances) == (current.start, current.end, current.instances):
            return current
        return replace(current, start=start, end=end, instances=instances)

    def is_over(self, now: datetime) -> bool:
        """Return whether nothing is left to do for the block: it was reported, has ended long ago or was never one."""
        if self.end is None:
            return bool(self.notices)
        return "report" in self.notices or now > self.end + _KNOWN_TO_EC2

    @property
    def _lasting(self) -> frozenset[str]:
        """Notices that an extension does not make due again."""
        return frozenset(name for name in self.notices if name.startswith((OUTSIDE, REFUSED, SICK, REPLACED)))

    def with_refusals(
        self,
        refusals: Mapping[str, datetime],
        *,
        joined_at: datetime | None,
        enabled: bool,
        limit: int,
        now: datetime,
        hourly: bool = False,
    ) -> "LifecycleState":
        """Return the state with the nodes that refused in a row, and whether they closed the environment.

        `refusals` are the launch times of nodes that EC2 still shows, `joined_at` that of the newest node that has joined.
        `limit` refusals in a row close the environment; if `hourly`, all of the last hour count instead.
        """
        # Only a person enables a closed environment.
        reopened_at = now if self.closed and enabled else self.reopened_at
        since = max((at for at in (joined_at, reopened_at) if at), default=None)
        if hourly:
            since = now - timedelta(hours=1)
        counted = {
            node: at for node, at in {**self.refusals, **refusals}.items() if since is None or at > since
        }
        closed = not enabled and len(counted) >= limit
        if (counted, closed, reopened_at) == (self.refusals, self.closed, self.reopened_at):
            return self
        return replace(self, refusals=counted, closed=closed, reopened_at=reopened_at)

    def with_starvation(self, now: datetime, *, starved: bool) -> "LifecycleState":
        """Return the state with the time since which jobs wait and the block has no node."""
        since = (self.starved_since or now) if starved else None
        return self if since == self.starved_since else replace(self, starved_since=since)

    def with_sick_nodes(
        self,
        now: datetime,
        *,
        present: frozenset[str],
        drained: str = "",
        asked: str = "",
        replaced: str = "",
    ) -> "LifecycleState":
        """Return the state with what was done to a sick node; absent nodes and old replacements are dropped."""

        def known(times: Mapping[str, datetime], node: str) -> dict[str, datetime]:
            kept = {each: at for each, at in times.items() if each in present}
            return {node: now} | kept if node else kept

        recent = {each: at for each, at in self.replaced.items() if now - at < _REMEMBERED}
        return replace(
            self,
            drained=known(self.drained, drained),
            asked=known(self.asked, asked),
            # The last request counts: an earlier one may not have arrived.
            replaced=recent | {replaced: now} if replaced else recent,
        )

    def with_sample(self, now: datetime, *, busy: int) -> "LifecycleState":
        """Return the state with the time since the last sample counted as busy or idle."""
        if self.start is None or self.end is None:
            return self
        since = max(self.sampled_at or self.start, self.start)
        elapsed = min(now, self.end) - since
        if elapsed <= timedelta(0):
            return self
        seconds = 0 if elapsed > LONGEST_SAMPLE else elapsed // timedelta(seconds=1)
        return replace(
            self,
            sampled_at=now,
            observed_seconds=self.observed_seconds + seconds * self.instances,
            busy_seconds=self.busy_seconds + seconds * min(busy, self.instances),
        )

    def with_checkpoint_requests(
        self, nodes: frozenset[str], now: datetime, *, present: frozenset[str]
    ) -> "LifecycleState":
        """Return the state with checkpoint requests added; the first one of a node counts, and absent nodes are dropped."""
        checkpoint_requests = {node: at for node, at in self.checkpoint_requests.items() if node in present}
        return replace(self, checkpoint_requests=dict.fromkeys(nodes, now) | checkpoint_requests)

    def with_notices(self, notices: frozenset[str]) -> "LifecycleState":
        """Return the state with notices added."""
        return replace(self, notices=self.notices | notices)

    def report(self, *, state: str) -> dict[str, Any]:
        """Summarize the use of a block that was observed in node-hours; `paid` is the sum of the other three."""
        if self.start is None or self.end is None:
            raise ValueError("cannot report a block that was never observed")
        paid = self.instances * ((self.end - self.start) // timedelta(seconds=1))
        return {
            "reservation_id": self.reservation_id,
            "state": state,
            "start": _text(self.start),
            "end": _text(self.end),
            "instances": self.instances,
            "paid_node_hours": _hours(paid),
            "used_node_hours": _hours(self.busy_seconds),
            "idle_node_hours": _hours(self.observed_seconds - self.busy_seconds),
            "unobserved_node_hours": _hours(paid - self.observed_seconds),
        }


def _hours(seconds: int) -> float:
    return round(seconds / 3600, 2)


def _epoch_seconds(times: Mapping[str, datetime]) -> dict[str, int]:
    return {name: int(at.timestamp()) for name, at in sorted(times.items())}


def _times(seconds: Mapping[str, Any]) -> dict[str, datetime]:
    return {name: _plausible(datetime.fromtimestamp(_count(at), UTC)) for name, at in seconds.items()}


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat()


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"time without a time zone: {text}")
    return _plausible(time)


def _plausible(time: datetime) -> datetime:
    """Return a time with which one can calculate, or raise ValueError."""
    if not _EARLIEST_YEAR <= time.year <= _LATEST_YEAR:
        raise ValueError(f"not a time of a block: {time}")
    return time


def _count(value: Any) -> int:
    if not 0 <= value <= _LARGEST_COUNT:
        raise ValueError(f"not a count: {value}")
    return int(value)
