"""Advice on jobs."""

from dataclasses import replace

import pytest
from tests.unit.runtime.advice.advice_recordings import SUBJECT, find_advice, of_job, reporting
from tests.unit.runtime.metrics.recordings import NODES, PERIOD, recording, series

from ultracluster_runtime.advice import advise


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


@pytest.mark.parametrize(
    ("interfaces", "gbit", "found"), [(16, 800.0, True), (16, 799.0, False), (8, 400.0, True)]
)
def test_estimates_the_time_in_collectives_from_efa_where_no_job_reports_it(
    interfaces: int, gbit: float, *, found: bool
) -> None:
    # Published: 3,200 Gbit/s by 16 interfaces. In the second period the nodes are idle.
    moved = 2 * gbit * 1e9 / 8 * NODES * PERIOD.total_seconds()
    recorded = (
        reporting(count=2),
        series("CoreUtilization", "Average", [90.0, 4.0]),
        series("EfaBytes", "Sum", [moved, 0.0]),
    )
    subject = replace(SUBJECT, efa_interfaces=interfaces)
    rule = "collectives" if interfaces == 16 else "network-layout"
    advice = find_advice(rule, *recorded, subject=subject)
    assert (advice is not None) == found
    assert advice is None or f"{gbit:,.1f} Gbit/s each by EFA" in advice.evidence
    if not found:
        (skipped,) = [
            each for each in advise(recording(*recorded), subject).skipped_rules if each.rule == "collectives"
        ]
        assert "at least as much of their time, by estimate" in skipped.reason
    # What a job reports counts alone.
    assert find_advice(rule, *recorded, of_job("CollectiveShare", "Average", 0.1), subject=subject) is None


def test_estimates_no_time_in_collectives_without_efa() -> None:
    recorded = (reporting(), series("CoreUtilization", "Average", [90.0]), series("EfaBytes", "Sum", [1e15]))
    assert find_advice("collectives", *recorded, subject=replace(SUBJECT, efa_interfaces=0)) is None
    assert find_advice("network-layout", *recorded[:2]) is None


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
