"""Advice on nodes."""

from tests.unit.runtime.advice.advice_recordings import find_advice, reporting
from tests.unit.runtime.metrics.recordings import series

from ultracluster_runtime.advice import Advice


def test_advises_on_paid_nodes_without_an_instance() -> None:
    # 5 % of 20 nodes: one node, at 10 USD for each of 730 hours.
    advice = find_advice(
        "unused-nodes",
        series("PaidNodes", "Average", [20.0] * 12),
        series("UnusedNodes", "Average", [1.0] * 12),
    )
    assert advice
    assert advice.usd_per_month == 7300
    assert "5% of the paid node-hours" in advice.evidence
    less = series("UnusedNodes", "Average", [0.99] * 12)
    assert find_advice("unused-nodes", series("PaidNodes", "Average", [20.0] * 12), less) is None


def test_advises_on_idle_nodes() -> None:
    # One period of ten at 4.9 %, with 16 nodes in it: 1.6 nodes.
    used = series("CoreUtilization", "Average", [4.9] + [90.0] * 9)
    advice = find_advice("idle-nodes", used, reporting(count=10))
    assert advice
    assert advice.usd_per_month == 11_680
    assert find_advice("idle-nodes", series("CoreUtilization", "Average", [5.0] + [90.0] * 9)) is None
    assert find_advice("idle-nodes", series("CoreUtilization", "Average", [4.9] + [90.0] * 10)) is None


def test_advises_on_a_node_without_work() -> None:
    def lowest(values: list[float], mean: float = 50) -> Advice | None:
        return find_advice(
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


def test_advises_on_a_lagging_node() -> None:
    def lag(slow: int, factor: float) -> Advice | None:
        slowest = [factor] * slow + [1.0] * (10 - slow)
        return find_advice(
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
