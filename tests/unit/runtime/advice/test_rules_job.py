"""Advice on jobs."""

from dataclasses import replace

import pytest
from tests.unit.runtime.advice.advice_recordings import SUBJECT, find_advice, of_job, reporting
from tests.unit.runtime.metrics.recordings import series


def test_advises_on_tcp_fallback() -> None:
    advice = find_advice("tcp-fallback", series("TcpFallback", "Maximum", [0.0, 1.0]))
    assert advice
    assert (advice.usd_per_month, bool(advice.reason)) == (None, True)
    assert find_advice("tcp-fallback", series("TcpFallback", "Maximum", [0.0, 0.0])) is None


@pytest.mark.parametrize(("interfaces", "rule"), [(15, "network-layout"), (16, "collectives")])
def test_advises_on_time_spent_in_collectives(interfaces: int, rule: str) -> None:
    subject = replace(SUBJECT, efa_interfaces=interfaces)
    other = {"network-layout": "collectives", "collectives": "network-layout"}[rule]
    busy = of_job("CollectiveShare", "Average", 0.2, 0.3)
    assert find_advice(rule, busy, subject=subject)
    assert find_advice(other, busy, subject=subject) is None
    assert find_advice(rule, of_job("CollectiveShare", "Average", 0.2, 0.298), subject=subject) is None


def test_advises_on_default_compiler_settings() -> None:
    assert find_advice("compiler-settings", of_job("Mfu", "Average", 0.199))
    assert find_advice("compiler-settings", of_job("Mfu", "Average", 0.2)) is None
    tuned = replace(SUBJECT, untuned_jobs=frozenset({"another"}))
    assert find_advice("compiler-settings", of_job("Mfu", "Average", 0.1), subject=tuned) is None


@pytest.mark.parametrize(
    ("rule", "metric"), [("compilations", "CompileSeconds"), ("checkpoints", "CheckpointSeconds")]
)
def test_advises_on_time_that_a_run_waits(rule: str, metric: str) -> None:
    # 180 of 3,600 seconds: a twentieth of 16 nodes.
    advice = find_advice(rule, of_job(metric, "Sum", 80, 100), reporting())
    assert advice
    assert advice.usd_per_month == 5840
    assert find_advice(rule, of_job(metric, "Sum", 80, 99), reporting()) is None
