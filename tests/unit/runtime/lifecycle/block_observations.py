"""Observations of one block with one job."""

from datetime import UTC, datetime, timedelta

from ultracluster_runtime.lifecycle.actions import (
    Action,
)
from ultracluster_runtime.lifecycle.machine import plan_actions
from ultracluster_runtime.lifecycle.observations import Environment, Job, Observations, Queue, Reservation
from ultracluster_runtime.lifecycle.state import LifecycleState

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)


END = START + timedelta(days=14)


SECOND = timedelta(seconds=1)


ID = "cr-0123456789abcdef0"


NODE = "i-0123456789abcdef0"


FRESH = LifecycleState(reservation_id=ID)


def reservation(**changes: object) -> Reservation:
    given = {
        "state": "active",
        "is_block": True,
        "ultraserver": False,
        "instances": 16,
        "start": START,
        "end": END,
    }
    return Reservation(**given | changes)  # type: ignore[arg-type]


def facts(now: datetime, **changes: object) -> Observations:
    given = {
        "now": now,
        "reservation_id": ID,
        "checkpoint_lead": timedelta(minutes=20),
        "reservation": reservation(),
        "environment": Environment(enabled=True),
        "queue": Queue(enabled=True, others_serve=False),
        "nodes": frozenset({NODE}),
        "jobs": (Job(job_id="job", nodes=frozenset({NODE})),),
        "extension_pending": False,
    }
    return Observations(**given | changes)  # type: ignore[arg-type]


def of_kind(kind: type[Action], seen: Observations, memory: LifecycleState | None = FRESH) -> list[Action]:
    return [action for action in plan_actions(seen, memory) if isinstance(action, kind)]
