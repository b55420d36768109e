"""Fault exploration is useful only if it detects bugs: each known one is injected, and must be detected."""

import pytest
from tests.unit.runtime.purchasing import fault_exploration
from tests.unit.runtime.purchasing.invariants import Violation
from tests.unit.runtime.purchasing.protocol_bugs import BUGS, Bug, with_bug
from tests.unit.runtime.purchasing.scenarios import SCENARIOS
from tests.unit.runtime.purchasing.special_scenarios import run_special_scenarios

pytestmark = pytest.mark.sweep


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_fault_exploration_detects_the_bug(bug: Bug) -> None:
    with with_bug(bug), pytest.raises(Violation):
        fault_exploration.find_violation(random_runs=300)


def test_unchanged_protocol_violates_nothing() -> None:
    # That nothing at all is found in the protocol itself is what test_protocol.py says, by the same sweeps.
    for bug in BUGS:
        with with_bug(Bug(bug.name, bug.module, bug.old, bug.old)):
            fault_exploration.sweep_single_faults(SCENARIOS["extension"])
    run_special_scenarios()
    for make in SCENARIOS.values():
        fault_exploration.sweep_single_faults(make)


def test_bugs_have_unique_names() -> None:
    names = [bug.name for bug in BUGS]
    assert len(set(names)) == len(names) >= 12
