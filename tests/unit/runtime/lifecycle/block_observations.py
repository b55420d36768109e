"""Observations of one block with one job."""

import json
from datetime import UTC, datetime, timedelta

from ultracluster_runtime.lifecycle.actions import Action, Notify
from ultracluster_runtime.lifecycle.observations import Environment, Job, Observations, Queue, Reservation
from ultracluster_runtime.lifecycle.plan import plan_actions
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


def notices(seen: Observations, memory: LifecycleState = FRESH, about: str = "") -> list[Notify]:
    """What people are told, if words are in the subject."""
    told = [notice for notice in of_kind(Notify, seen, memory) if isinstance(notice, Notify)]
    return [notice for notice in told if about in notice.subject]


def _stored(**changes: object) -> str:
    sound = json.loads(FRESH.with_block(start=START, end=START + timedelta(days=1), instances=2).to_json())
    return json.dumps(sound | changes)


STRANGE_STATES = {
    "nothing": "",
    "half a text": "{",
    "ten thousand brackets": "[" * 10_000,
    **{
        f"{name}: {str(value)[:40]}": _stored(**{name: value})
        for name, values in {
            "reservation_id": (None, 7),
            "start": (None, 7, "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00"),
            "end": (None, "9999-12-31T23:59:59-12:00"),
            "instances": (None, -1, 10**400, float("inf"), float("nan")),
            "sampled_at": ("9999-12-31T23:59:59+00:00",),
            "observed_seconds": (None, 10**400),
            "busy_seconds": (float("nan"),),
            "told": (None, {NODE: None}, {NODE: 10**400}, {NODE: 253402300799}, {NODE: -(10**30)}),
            "notices": (None, 7),
            "refusals": (None, {NODE: 253402300799}, {NODE: 1e300}),
            "reopened_at": ("9999-12-31T23:59:59+00:00",),
        }.items()
        for value in values
    },
}
"""Stored states with which nothing can be calculated, by what is strange about them."""
