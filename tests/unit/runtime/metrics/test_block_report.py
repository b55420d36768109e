"""Each minute of a paid node has one use, and what was not recorded has no figure."""

from dataclasses import replace

import pytest
from tests.unit.runtime.metrics.recordings import recording, series

from ultracluster_runtime.metrics.block_report import TRAINING, USES, BlockReport, Rates, report_block
from ultracluster_runtime.metrics.recorded_metrics import Series

RATES = Rates(usd=36.0, other_usd=40.0, peak_ratio=0.5)
PAID = series("PaidNodes", "Average", [4.0])
RUNS = series("RunningJobs", "Average", [1.0])


def job(metric: str, value: float, name: str = "train") -> Series:
    statistic = (
        "Sum" if metric in {"CompileSeconds", "CheckpointSeconds", "CacheHits", "CacheMisses"} else "Average"
    )
    return series(metric, statistic, [value], job=name)


def report(*made: Series, **options: float) -> BlockReport:
    found = report_block(recording(*made), RATES, **options)  # type: ignore[arg-type]
    assert found is not None
    return found


STEPS = job("TokensPerSecond", 1000.0)


@pytest.mark.parametrize(
    ("made", "used"),
    [
        ([], {"no work": 20}),
        ([series("RunnableJobs", "Average", [2.0])], {"jobs that wait": 20}),
        ([RUNS], {"start of jobs": 20}),
        ([RUNS, STEPS], {"training": 20}),
        ([RUNS, job("StepSeconds", 2.0)], {"training": 20}),  # a program that counts no tokens
        ([STEPS], {"training": 20}),  # the watch missed the job
        ([RUNS, STEPS, job("CheckpointSeconds", 30.0)], {"training": 18, "checkpoints": 2}),
        ([RUNS, job("CompileSeconds", 150.0)], {"start of jobs": 10, "compilation": 10}),
        # Waiting cannot be longer than the period, and the compiler comes first.
        ([RUNS, STEPS, job("CompileSeconds", 900.0), job("CheckpointSeconds", 30.0)], {"compilation": 20}),
        # Of two jobs, the one that waits longer decides.
        (
            [RUNS, STEPS, job("CheckpointSeconds", 30.0), job("CheckpointSeconds", 60.0, "b")],
            {"training": 16, "checkpoints": 4},
        ),
        ([RUNS, STEPS, series("UnusedNodes", "Average", [1.0])], {"training": 15, "no node": 5}),
        ([series("UnusedNodes", "Average", [9.0])], {"no node": 20}),
        ([RUNS, STEPS, series("SecondsToDrain", "Minimum", [0.0])], {"drain": 20}),
        ([RUNS, STEPS, series("SecondsToDrain", "Minimum", [1.0])], {"training": 20}),
    ],
)
def test_each_minute_of_a_paid_node_has_one_use(made: list[Series], used: dict[str, float]) -> None:
    found = report(PAID, *made)

    assert {use: minutes for use, minutes in found.minutes.items() if minutes} == pytest.approx(used)
    assert found.paid_minutes == 20  # four nodes for five minutes
    assert set(found.minutes) == set(USES)


def test_a_dollar_buys_what_was_paid_for_it() -> None:
    found = report(PAID, RUNS, STEPS, job("CheckpointSeconds", 30.0), job("Mfu", 0.4))

    assert found.usd == 12  # 20 minutes of nodes at 36 USD an hour
    assert found.tokens == 270_000  # 1,000 a second in 270 of 300 seconds
    assert found.usd_per_million_tokens == pytest.approx(12 / 0.27)
    assert found.usd_per_million_tokens_without_losses == pytest.approx(12 / 0.27 * 18 / 20)
    assert found.usd_of("checkpoints") == pytest.approx(1.2)
    # The other type has half of the peak, so half of the tokens, and costs 40 USD.
    assert found.usd_per_million_tokens_other == pytest.approx(40 / 3 / 0.135)
    assert found.other_mfu_of_same_cost == pytest.approx(0.4 * 2 * 40 / 36)
    assert found.node_hours_for(540_000) == pytest.approx(2 / 3)
    assert found.usd_for(540_000) == pytest.approx(24)
    assert report(PAID, RUNS, STEPS, paid_usd=6.0).usd == 6


@pytest.mark.parametrize(
    ("reuses", "minutes"), [({}, 5 * 4), ({"reuses": 3}, 30 * 4), ({"reuses": 1}, 10 * 4)]
)
def test_the_compile_cache_saves_what_graphs_took_to_compile(reuses: dict[str, int], minutes: float) -> None:
    cache = [job("CompileSeconds", 600.0), job("CacheMisses", 12.0), job("CacheHits", 6.0)]
    found = report(PAID, RUNS, *cache, **reuses)

    assert (found.seconds_per_graph, found.graphs) == (50, 6)
    assert found.cache_minutes == minutes
    assert found.cache_usd == pytest.approx(minutes / 60 * 36)


def test_what_was_not_recorded_has_no_figure() -> None:
    found = report(PAID)
    assert (found.tokens, found.mfu, found.usd_per_million_tokens, found.cache_minutes) == (None,) * 4
    assert (found.usd_for(1.0), found.node_hours_for(1.0)) == (None, None)

    unpriced = report_block(recording(PAID, RUNS, STEPS), replace(RATES, usd=None, peak_ratio=None))
    assert unpriced is not None
    assert (unpriced.usd, unpriced.usd_of(TRAINING), unpriced.usd_per_million_tokens_other) == (None,) * 3


@pytest.mark.parametrize("paid", [[], [series("PaidNodes", "Average", [0.0])]])
def test_without_a_paid_node_there_is_no_report(paid: list[Series]) -> None:
    assert report_block(recording(*paid, RUNS), RATES) is None
