"""Each cause in causes.yaml is named with its remedy, from answers of AWS Batch and lines of a log alone."""

from typing import Any

import pytest
from tests.unit.runtime.jobs.recorded_jobs import CAUSES, Answers, by_name, explained


def test_the_table_has_at_least_25_different_causes() -> None:
    assert len({cause["cause"] for cause in CAUSES}) == len(CAUSES) >= 25


@pytest.mark.parametrize("cause", CAUSES, ids=[cause["cause"] for cause in CAUSES])
def test_cause_and_remedy_are_named(cause: dict[str, Any]) -> None:
    explanation = Answers(cause).explained()

    assert [reason.reason for reason in explanation.reasons][:2] == ["failed", cause["why"]]
    reasons = by_name(explanation)
    assert cause.get("remedy", "") in reasons[cause["why"]].remedy
    if "also" in cause:
        assert cause.get("also_remedy", "") in reasons[cause["also"]].remedy
    assert list(explanation.last_lines) == cause.get("log", [])
    assert explanation.unseen == ()


def test_a_fault_of_a_running_job_is_named_without_its_last_lines() -> None:
    explanation = explained(status="RUNNING", status_reason="", log=["Using network Socket"])
    assert [reason.reason for reason in explanation.reasons] == ["running", "efa-fallback-to-sockets"]
    assert explanation.last_lines == ()
