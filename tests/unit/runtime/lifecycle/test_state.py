"""State of a block between two runs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.runtime.lifecycle.block_observations import (
    END,
    FRESH,
    ID,
    START,
)

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


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "{", '{"reservation_id":"' + ID + '"}'])
def test_unreadable_state_becomes_a_new_state(text: str) -> None:
    assert LifecycleState.from_json(text, reservation_id=ID) == FRESH


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
