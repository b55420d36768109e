"""Series of a recording become lines of charts."""

from typing import Any

import pytest
from tests.unit.runtime.metrics.recordings import START, recording, series

from ultracluster_catalog.observability.panels import PANELS
from ultracluster_cli.metrics.metrics_page import charted_lines, node_hours
from ultracluster_runtime.metrics.recorded_metrics import Series


def panel(title: str) -> Any:
    (found,) = (each for each in PANELS if each.title.startswith(title))
    return found


def test_sums_of_a_period_are_shown_as_rates() -> None:
    # Five minutes of 16 nodes that report each minute; 300 s of 2 GB/s; 100 GiB free in each of five minutes.
    recorded = recording(
        series("NodesReporting", "Sum", [80.0]),
        series("EfaBytes", "Sum", [600e9]),
        series("FreeDataStorageCapacity", "Sum", [5 * 100 * 2.0**30]),
        series("SecondsToDrain", "Minimum", [5400.0]),
    )
    shown = {
        line.label: [value for _, value in line.points if value is not None]
        for title in ("Nodes:", "Traffic", "Free space", "Time left")
        for line in charted_lines(recorded, panel(title))
    }
    assert shown == {
        "reporting": [pytest.approx(16)],
        "EFA": [pytest.approx(2)],
        "free": [pytest.approx(100)],
        "until the drain": [pytest.approx(1.5)],
    }


def test_a_line_has_a_gap_where_values_are_missing() -> None:
    period = recording().period
    points = ((START, 1.0), (START + period, 2.0), (START + 4 * period, 3.0))
    recorded = recording(Series(metric="Loss", statistic="Average", job="train", points=points))
    (line,) = charted_lines(recorded, panel("Loss"))
    assert [value for _, value in line.points] == [1, 2, None, 3]


def test_node_hours_are_added_up() -> None:
    recorded = recording(series("PaidNodes", "Average", [16.0] * 12))
    assert node_hours(recorded, "PaidNodes") == pytest.approx(16)
    assert node_hours(recorded, "UnusedNodes") is None
