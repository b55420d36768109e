"""People hear of jobs that wait in an active block without a node, and of nodes that run outside their block."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.unit.runtime.lifecycle.block_observations import ID, START, facts
from tests.unit.runtime.lifecycle.lifecycle_aws import QUEUE, FakeAws

from ultracluster_runtime.lifecycle.actions import Action, Notify
from ultracluster_runtime.lifecycle.observations import (
    Environment,
    Stray,
)
from ultracluster_runtime.lifecycle.plan import run_cycle
from ultracluster_runtime.lifecycle.reader import _strays, _tagged, _waiting
from ultracluster_runtime.lifecycle.state import LifecycleState

MINUTE = timedelta(minutes=1)
SEEN = facts(START, nodes=frozenset(), jobs=(), waiting="job-1")


class Cycle:
    """The life cycle of one block, run for each observation."""

    def __init__(self) -> None:
        self.state = LifecycleState(reservation_id=ID)
        self.notices: list[tuple[datetime, Notify]] = []

    def run(self, minute: int, **changes: Any) -> None:
        observations = replace(SEEN, now=START + minute * MINUTE, **changes)

        def perform(action: Action) -> None:
            if isinstance(action, Notify) and (
                "without a node" in action.subject or "not run in" in action.subject
            ):
                self.notices.append((observations.now, action))

        def save(state: LifecycleState) -> None:
            self.state = LifecycleState.from_json(state.to_json(), reservation_id=ID)

        assert run_cycle(observations, self.state, perform=perform, save=save) == ()

    @property
    def minutes(self) -> list[int]:
        return [(at - START) // MINUTE for at, _ in self.notices]


def test_a_job_that_waits_20_minutes_without_a_node_is_told_once_with_the_command_that_helps() -> None:
    cycle = Cycle()
    for minute in range(90):
        cycle.run(minute)
    assert cycle.minutes == [20]
    ((_, notice),) = cycle.notices
    assert notice.subject == f"Capacity Block {ID} is active, and jobs wait without a node"
    assert "`ultracluster jobs why job-1`" in notice.text


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes": frozenset({"i-1"})},
        {"waiting": None},
        {"environment": Environment(enabled=False)},
        {"reservation": replace(SEEN.reservation, state="scheduled")},  # type: ignore[type-var]
        {"nodes": None},
    ],
    ids=["a node runs", "no job waits", "closed", "not started", "nodes not readable"],
)
def test_nothing_is_told_where_nothing_is_wrong_or_known(changes: dict[str, Any]) -> None:
    cycle = Cycle()
    for minute in range(40):
        cycle.run(minute, **changes)
    assert cycle.minutes == []


@pytest.mark.parametrize(("appears", "told"), [(19, []), (20, [20]), (21, [20])])
def test_a_node_within_20_minutes_is_soon_enough(appears: int, told: list[int]) -> None:
    cycle = Cycle()
    for minute in range(40):
        nodes = frozenset({"i-1"}) if minute >= appears and appears < 20 else frozenset[str]()
        cycle.run(minute, nodes=nodes)
    assert cycle.minutes == told


def test_people_hear_again_when_jobs_wait_again() -> None:
    cycle = Cycle()
    for minute in range(90):
        cycle.run(minute, nodes=frozenset({"i-1"}) if 30 <= minute < 40 else frozenset())
    assert cycle.minutes == [20, 60]


def test_a_minute_that_cannot_be_read_neither_tells_nor_forgets() -> None:
    cycle = Cycle()
    for minute in range(30):
        unread = {"nodes": None, "waiting": None} if minute in {7, 20} else {}
        cycle.run(minute, **unread)
    assert cycle.minutes == [21]


def test_a_node_outside_the_block_is_told_once_with_where_it_runs() -> None:
    cycle = Cycle()
    strays = (Stray(node="i-1", reservation_id=None), Stray(node="i-2", reservation_id="cr-of-others"))
    for minute in range(3):
        cycle.run(minute, nodes=frozenset({"i-3"}), strays=strays)
    texts = [notice.text for _, notice in cycle.notices]
    assert len(texts) == 2
    assert "runs in no reservation, so that it is billed on top" in texts[0]
    assert "runs in cr-of-others" in texts[1]
    assert all("ultracluster nodes replace i-" in text for text in texts)


def test_strays_and_waiting_jobs_are_read() -> None:
    aws = FakeAws()
    aws.strays = {"i-on-demand": None, "i-elsewhere": "cr-1", "i-inside": ID}
    aws.jobs = {"job-1": "RUNNABLE"}
    clients = aws.clients
    found = _strays(_tagged(clients, ID), ID)
    assert [(stray.node, stray.reservation_id) for stray in found] == [
        ("i-on-demand", None),
        ("i-elsewhere", "cr-1"),
    ]
    assert _waiting(clients, [QUEUE]) == "job-1"
    aws.jobs = {"job-1": "RUNNING"}
    assert _waiting(clients, [QUEUE]) is None
