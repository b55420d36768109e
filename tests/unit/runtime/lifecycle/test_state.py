"""State of a block between two runs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.runtime.lifecycle.block_observations import (
    END,
    FRESH,
    ID,
    START,
    STRANGE_STATES,
    facts,
)

from ultracluster_runtime.lifecycle.plan import plan_actions
from ultracluster_runtime.lifecycle.state import LifecycleState


def test_state_survives_being_stored() -> None:
    nodes = frozenset(f"i-{number:017x}" for number in range(64))
    memory = replace(
        FRESH, start=START, end=END, instances=64, sampled_at=END, observed_seconds=10**9, busy_seconds=10**9
    )
    memory = memory.with_checkpoint_requests(nodes, END, present=nodes).with_notices(
        frozenset({"T-24h", "T-2h", "report"})
    )
    memory = replace(memory, refusals={"i-1": START}, closed=True, reopened_at=START)
    assert LifecycleState.from_json(memory.to_json(), reservation_id=ID) == memory


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "null", '{"reservation_id":"' + ID + '"}', *STRANGE_STATES.values()],
    ids=lambda text: text[:20] or "nothing",
)
def test_unreadable_or_impossible_state_never_disturbs_a_run(text: str) -> None:
    state = LifecycleState.from_json(text, reservation_id=ID)
    for hours in (1, 14 * 24 - 1, 14 * 24 + 1):
        now = START + timedelta(hours=hours)
        assert plan_actions(facts(now), state) is not None
        state = state.with_block(start=START, end=END, instances=2).with_sample(now, busy=2)
        assert state.report(state="expired")["paid_node_hours"] == 2 * 14 * 24


@pytest.mark.parametrize(
    ("state", "over"),
    [
        (FRESH, False),  # its end may have been lost
        (replace(FRESH, notices=frozenset({"not understood: no such reservation"})), True),
        (FRESH.with_block(start=START, end=END, instances=2), False),
        (replace(FRESH, end=END, notices=frozenset({"report"})), True),
        (replace(FRESH, end=END - timedelta(hours=2)), True),
    ],
)
def test_former_block_is_managed_until_it_was_reported(state: LifecycleState, over: bool) -> None:
    assert state.is_over(END) is over


def test_state_of_another_block_is_discarded() -> None:
    other = replace(FRESH, instances=16, notices=frozenset({"report"})).to_json()
    assert LifecycleState.from_json(other, reservation_id="cr-0123456789abcdef1") == LifecycleState(
        reservation_id="cr-0123456789abcdef1"
    )


def test_hours_are_counted_inside_the_block_only_and_never_over_a_gap() -> None:
    memory = FRESH.with_block(start=START, end=END, instances=2)
    memory = memory.with_sample(START - timedelta(minutes=1), busy=1)
    assert memory.observed_seconds == 0
    memory = memory.with_sample(START + timedelta(minutes=5), busy=1)
    assert (memory.observed_seconds, memory.busy_seconds) == (600, 300)
    memory = memory.with_sample(START + timedelta(minutes=3), busy=2)  # late, and out of order
    memory = memory.with_sample(
        START + timedelta(minutes=10, seconds=1), busy=2
    )  # a gap of more than five minutes
    assert (memory.observed_seconds, memory.busy_seconds) == (600, 300)
    memory = memory.with_sample(START + timedelta(minutes=15, seconds=1), busy=9)
    assert (memory.observed_seconds, memory.busy_seconds) == (1200, 900)
    report = memory.report(state="expired")
    assert report["paid_node_hours"] == 2 * 14 * 24
    assert (report["used_node_hours"], report["idle_node_hours"]) == (0.25, 0.08)
    assert report["unobserved_node_hours"] == pytest.approx(2 * 14 * 24 - 1 / 3, abs=0.01)


def test_report_requires_an_observed_block() -> None:
    with pytest.raises(ValueError, match="never observed"):
        FRESH.report(state="expired")
