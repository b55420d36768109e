"""What the life cycle of a block remembers between two wake-ups: what was told to whom, and how the nodes were used.

Everything that guards money or jobs is derived from AWS anew at each wake-up. Only what AWS does not keep stands here,
so that losing it costs a repeated notice and a gap in the report, never an open queue or a job that was not told.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["LONGEST_SAMPLE", "LifecycleState"]

LONGEST_SAMPLE = timedelta(minutes=5)
"""A gap between two looks that is longer than this counts as not observed; nothing is extrapolated over it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleState:
    """What is known of one reservation from earlier wake-ups.

    Attributes:
        reservation_id: The reservation that all of this is about.
        start: Its start when it was last seen. Default: never seen.
        end: Its end when it was last seen. Default: never seen.
        instances: Its most instances while it was active. Default: 0, never seen active.
        sampled_at: Until when its use was looked at. Default: not yet.
        observed_seconds: Node-seconds that were looked at. Default: 0.
        busy_seconds: Those of them in which a job ran on the node. Default: 0.
        told: When each node was first told to write a checkpoint before this end. Default: none was.
        notices: Names of the notices that people were sent about this end. Default: none.
    """

    reservation_id: str
    start: datetime | None = None
    end: datetime | None = None
    instances: int = 0
    sampled_at: datetime | None = None
    observed_seconds: int = 0
    busy_seconds: int = 0
    checkpoint_requests: Mapping[str, datetime] = field(default_factory=dict)
    notices: frozenset[str] = frozenset()

    @classmethod
    def from_json(cls, text: str, *, reservation_id: str) -> "LifecycleState":
        """Read what `to_json` wrote; what is about another reservation, or cannot be read, is forgotten.

        Args:
            text: The stored text.
            reservation_id: The reservation to remember.
        """
        try:
            stored = json.loads(text)
            if stored.get("reservation_id") != reservation_id:
                return cls(reservation_id=reservation_id)
            return cls(
                reservation_id=reservation_id,
                start=_time(stored["start"]),
                end=_time(stored["end"]),
                instances=int(stored["instances"]),
                sampled_at=_time(stored["sampled_at"]),
                observed_seconds=int(stored["observed_seconds"]),
                busy_seconds=int(stored["busy_seconds"]),
                checkpoint_requests={
                    node: datetime.fromtimestamp(int(seconds), UTC)
                    for node, seconds in stored["told"].items()
                },
                notices=frozenset(map(str, stored["notices"])),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            return cls(reservation_id=reservation_id)

    def to_json(self) -> str:
        """Write it as text; below the 4,096 characters of a standard parameter for the 64 nodes of a block."""
        stored: dict[str, Any] = {
            "reservation_id": self.reservation_id,
            "start": _text(self.start),
            "end": _text(self.end),
            "instances": self.instances,
            "sampled_at": _text(self.sampled_at),
            "observed_seconds": self.observed_seconds,
            "busy_seconds": self.busy_seconds,
            "told": {node: int(at.timestamp()) for node, at in sorted(self.checkpoint_requests.items())},
            "notices": sorted(self.notices),
        }
        return json.dumps(stored, separators=(",", ":"))

    def with_block(self, *, start: datetime, end: datetime, instances: int) -> "LifecycleState":
        """Take over what EC2 says now. Another end is another deadline: everybody is told again.

        Args:
            start: Start of the block.
            end: End of the block; later than before when an extension was bought.
            instances: Instances that it has.
        """
        current = self if end == self.end else replace(self, checkpoint_requests={}, notices=frozenset())
        instances = max(self.instances, instances)
        if (start, end, instances) == (current.start, current.end, current.instances):
            return current
        return replace(current, start=start, end=end, instances=instances)

    def with_sample(self, now: datetime, *, busy: int) -> "LifecycleState":
        """Count the time since the last look as used by `busy` nodes and idle on the others.

        Args:
            now: When the nodes were looked at.
            busy: Nodes on which a job ran.
        """
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

    def with_checkpoint_requests(self, nodes: frozenset[str], now: datetime, *, present: frozenset[str]) -> "LifecycleState":
        """Remember that nodes were told; the first time counts, and nodes that are gone are forgotten.

        Args:
            nodes: Nodes that were told now.
            now: The time.
            present: Nodes that there are.
        """
        checkpoint_requests = {node: at for node, at in self.checkpoint_requests.items() if node in present}
        return replace(self, checkpoint_requests=dict.fromkeys(nodes, now) | checkpoint_requests)

    def with_notices(self, notices: frozenset[str]) -> "LifecycleState":
        """Remember that notices were sent.

        Args:
            notices: Their names.
        """
        return replace(self, notices=self.notices | notices)

    def report(self, *, state: str) -> dict[str, Any]:
        """Say how the block was used, in node-hours; `paid` is the sum of the other three.

        Args:
            state: How the reservation ended.

        Raises:
            ValueError: If the block was never seen with a start and an end.
        """
        if self.start is None or self.end is None:
            raise ValueError("a block that was never seen cannot be reported")
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


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat()


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"a time without a zone: {text}")
    return time
