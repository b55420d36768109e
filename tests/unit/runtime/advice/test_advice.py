"""Advice from recorded metrics: each rule just at its threshold and just short of it, and the money by hand."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from tests.unit.runtime.metrics.recordings import NODES, PERIOD, day, recording, series

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import Price, capacity_block_price
from ultracluster_runtime.advice import Advice, Subject, advise
from ultracluster_runtime.advice.report import RULES
from ultracluster_runtime.metrics.recorded_metrics import Series

SUBJECT = Subject(
    instance_type=INSTANCE_TYPES["trn2.48xlarge"],
    region="us-east-1",
    node_hour=Price(amount=Decimal(10), unit="instance-hour", source="the test", dated=date(2026, 11, 21)),
    efa_interfaces=16,
    file_system=LustreSettings(storage_capacity_gib=9600, per_unit_storage_throughput=125),
    untuned_jobs=frozenset({"train"}),
)
MINUTES = 5


def found(rule: str, *made: Series, subject: Subject = SUBJECT, hours: float = 1) -> Advice | None:
    report = advise(recording(*made, hours=hours), subject)
    named = [each for each in report.advice if each.rule == rule]
    assert len(named) <= 1
    return named[0] if named else None


def reporting(nodes: float = NODES, count: int = 12) -> Series:
    return series("NodesReporting", "Sum", [nodes * MINUTES] * count)


def of_job(metric: str, statistic: str, *values: float) -> Series:
    return series(metric, statistic, list(values), job="train")


def test_a_day_that_goes_well_but_for_one_node_gives_no_advice() -> None:
    report = advise(
        day(),
        replace(
            SUBJECT, file_system=LustreSettings(storage_capacity_gib=4800, per_unit_storage_throughput=250)
        ),
    )
    assert [each.rule for each in report.advice] == []
    assert report.skipped_rules == ()
    assert report.hours == 24


def test_nothing_recorded_is_nothing_judged() -> None:
    report = advise(recording(), SUBJECT)
    assert report.advice == ()
    assert len(report.skipped_rules) == len(RULES)
    assert all(each.reason for each in report.skipped_rules)


def test_paid_nodes_without_an_instance() -> None:
    # 5 % of 20 nodes: one node, at 10 USD for each of 730 hours.
    advice = found(
        "unused-nodes",
        series("PaidNodes", "Average", [20.0] * 12),
        series("UnusedNodes", "Average", [1.0] * 12),
    )
    assert advice
    assert advice.usd_per_month == 7300
    assert "5% of the paid node-hours" in advice.evidence
    less = series("UnusedNodes", "Average", [0.99] * 12)
    assert found("unused-nodes", series("PaidNodes", "Average", [20.0] * 12), less) is None


def test_nodes_that_do_nothing() -> None:
    # One period of ten at 4.9 %, with 16 nodes in it: 1.6 nodes.
    used = series("CoreUtilization", "Average", [4.9] + [90.0] * 9)
    advice = found("idle-nodes", used, reporting(count=10))
    assert advice
    assert advice.usd_per_month == 11_680
    assert found("idle-nodes", series("CoreUtilization", "Average", [5.0] + [90.0] * 9)) is None
    assert found("idle-nodes", series("CoreUtilization", "Average", [4.9] + [90.0] * 10)) is None


def test_a_node_that_takes_no_part() -> None:
    def lowest(values: list[float], mean: float = 50) -> Advice | None:
        return found(
            "node-without-work",
            series("CoreUtilization", "Average", [mean] * len(values)),
            series("CoreUtilization", "Minimum", values),
        )

    advice = lowest([4.9] + [50.0] * 9)
    assert advice
    assert advice.usd_per_month == 730  # a tenth of one node
    assert lowest([5.0] * 10) is None
    assert lowest([4.9] + [50.0] * 10) is None
    assert lowest([4.9] * 10, mean=49.9) is None


def test_a_node_that_the_others_wait_for() -> None:
    def lag(slow: int, factor: float) -> Advice | None:
        slowest = [factor] * slow + [1.0] * (10 - slow)
        return found(
            "lagging-node",
            series("ExecutionSeconds", "Average", [1.0] * 10),
            series("ExecutionSeconds", "Maximum", slowest),
            reporting(10, count=10),
        )

    advice = lag(5, 1.25)
    assert advice
    # A fifth of ten nodes in half of the time.
    assert advice.usd_per_month == 7300
    assert lag(4, 2) is None
    assert lag(10, 1.24) is None


def test_a_node_that_talks_over_tcp() -> None:
    advice = found("tcp-fallback", series("TcpFallback", "Maximum", [0.0, 1.0]))
    assert advice
    assert (advice.usd_per_month, bool(advice.reason)) == (None, True)
    assert found("tcp-fallback", series("TcpFallback", "Maximum", [0.0, 0.0])) is None


@pytest.mark.parametrize(("interfaces", "rule"), [(15, "network-layout"), (16, "collectives")])
def test_steps_that_are_spent_in_collectives(interfaces: int, rule: str) -> None:
    subject = replace(SUBJECT, efa_interfaces=interfaces)
    other = {"network-layout": "collectives", "collectives": "network-layout"}[rule]
    busy = of_job("CollectiveShare", "Average", 0.2, 0.3)
    assert found(rule, busy, subject=subject)
    assert found(other, busy, subject=subject) is None
    assert found(rule, of_job("CollectiveShare", "Average", 0.2, 0.298), subject=subject) is None


def test_a_compiler_at_its_defaults() -> None:
    assert found("compiler-settings", of_job("Mfu", "Average", 0.199))
    assert found("compiler-settings", of_job("Mfu", "Average", 0.2)) is None
    tuned = replace(SUBJECT, untuned_jobs=frozenset({"another"}))
    assert found("compiler-settings", of_job("Mfu", "Average", 0.1), subject=tuned) is None


@pytest.mark.parametrize(
    ("rule", "metric"), [("compilations", "CompileSeconds"), ("checkpoints", "CheckpointSeconds")]
)
def test_time_that_a_run_waits(rule: str, metric: str) -> None:
    # 180 of 3,600 seconds: a twentieth of 16 nodes.
    advice = found(rule, of_job(metric, "Sum", 80, 100), reporting())
    assert advice
    assert advice.usd_per_month == 5840
    assert found(rule, of_job(metric, "Sum", 80, 99), reporting()) is None


def lustre(used_gib: float, mb_per_s: float, size: int = 9600) -> tuple[Series, ...]:
    free = (size - used_gib) * 2**30 * MINUTES
    moved = mb_per_s * 1e6 * PERIOD.total_seconds() / 2
    return (
        series("FreeDataStorageCapacity", "Sum", [size * 2.0**30 * MINUTES, free]),
        series("LustreReadBytes", "Sum", [0.0, moved]),
        series("LustreWriteBytes", "Sum", [0.0, moved]),
    )


@pytest.mark.parametrize(
    ("used", "moved", "smaller"),
    [
        # Of 1,200 GiB 70 % are 840 GiB, and half of the throughput, which FSx gives as 125 MB/s for each of 1.2 TiB,
        # is 75 MB/s.
        (840, 75, 1200),
        (841, 75, 2400),
        (840, 75.1, 2400),
        (5040, 0, 7200),
        (5041, 0, None),
        (0, 450, 7200),
        (0, 450.1, None),
    ],
)
def test_a_file_system_that_is_too_large(used: float, moved: float, smaller: int | None) -> None:
    advice = found("oversize-file-system", *lustre(used, moved))
    if smaller is None:
        assert advice is None
        return
    assert advice
    assert f"{smaller:,} GiB of the same kind" in advice.remedy
    assert advice.usd_per_month == round((9600 - smaller) * Decimal("0.145"))


def test_a_file_system_for_efa_keeps_its_steps() -> None:
    settings = LustreSettings(storage_capacity_gib=19_200, per_unit_storage_throughput=500, efa_enabled=True)
    advice = found(
        "oversize-file-system",
        *lustre(10, 10, size=19_200),
        subject=replace(SUBJECT, file_system=settings),
    )
    assert advice
    assert "9,600 GiB of the same kind" in advice.remedy
    assert (advice.usd_per_month, bool(advice.reason)) == (None, True)  # no dated price of this tier


@pytest.mark.parametrize(
    "settings", [None, LustreSettings(storage_type="INTELLIGENT_TIERING", throughput_capacity=4000)]
)
def test_a_file_system_without_a_size_is_not_judged(settings: LustreSettings | None) -> None:
    report = advise(recording(*lustre(1, 1)), replace(SUBJECT, file_system=settings))
    assert "oversize-file-system" in {each.rule for each in report.skipped_rules}


def test_an_unknown_price_is_no_saving_of_nothing() -> None:
    subject = replace(SUBJECT, node_hour=capacity_block_price("trn2.48xlarge", "eu-north-1"))
    advice = found(
        "unused-nodes",
        series("PaidNodes", "Average", [4.0]),
        series("UnusedNodes", "Average", [4.0]),
        subject=subject,
    )
    assert advice
    assert advice.usd_per_month is None
    assert "eu-north-1" in advice.reason


def test_the_largest_saving_comes_first_and_the_unknown_last() -> None:
    report = advise(
        recording(
            series("TcpFallback", "Maximum", [1.0]),
            series("PaidNodes", "Average", [4.0]),
            series("UnusedNodes", "Average", [1.0]),
            of_job("CompileSeconds", "Sum", 3600),
            reporting(),
            hours=1,
        ),
        SUBJECT,
    )
    assert [each.rule for each in report.advice] == ["compilations", "unused-nodes", "tcp-fallback"]
