"""The dashboard of a cluster."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from tests.unit.ultracluster.builders import block, new_stack, ultra_cluster
from tests.unit.ultracluster.dashboards.dashboard_widgets import widgets

from ultracluster import Alarms, ClusterDashboard, UltraCluster
from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_catalog.observability.panels import PANELS

pytestmark = pytest.mark.slow


def cluster(stack: cdk.Stack, alarms: Alarms) -> UltraCluster:
    return ultra_cluster(stack, capacity=block(), alarms=alarms, cluster_name="pretrain")


@pytest.fixture(scope="module")
def shown() -> list[dict[str, Any]]:
    stack = new_stack()
    dashboard = ClusterDashboard(stack, "Dashboard", cluster=cluster(stack, Alarms()))
    dashboard.add_widgets("Ours", cloudwatch.TextWidget(markdown="what we add"))
    return widgets(stack)


def test_a_dashboard_has_a_row_for_each_subject_and_what_is_added_comes_last(
    shown: list[dict[str, Any]],
) -> None:
    headings = [
        each["properties"]["markdown"].removeprefix("## ")
        for each in shown
        if each["type"] == "text" and each["properties"]["markdown"].startswith("## ")
    ]
    assert headings == [
        "Cluster pretrain", "Capacity", "Queue", "Training", "Health", "Fabric", "Storage", "Ours",
    ]  # fmt: skip
    assert shown[-1]["properties"]["markdown"] == "what we add"


def test_all_alarms_are_in_the_first_row(shown: list[dict[str, Any]]) -> None:
    (status,) = [each for each in shown if each["type"] == "alarm"]
    assert len(status["properties"]["alarms"]) == 18
    assert status["y"] == 1


def test_graphs_show_metrics_that_exist_under_the_name_of_the_cluster(shown: list[dict[str, Any]]) -> None:
    graphs = [row for each in shown if each["type"] == "metric" for row in each["properties"]["metrics"]]
    ours = [row for row in graphs if row[0] == "UltraCluster"]
    assert {row[1] for row in ours} <= set(METRICS)
    assert {tuple(row[2:4]) for row in ours} == {("Cluster", "pretrain")}
    assert [row[:2] for row in graphs if row[0] != "UltraCluster"] == [["AWS/FSx", "FreeDataStorageCapacity"]]


def test_the_page_that_the_command_line_draws_shows_what_the_dashboard_shows(
    shown: list[dict[str, Any]],
) -> None:
    graphs = [row for each in shown if each["type"] == "metric" for row in each["properties"]["metrics"]]
    assert {row[1] for row in graphs} <= {line.metric for panel in PANELS for line in panel.lines}


def test_no_widget_lies_on_another(shown: list[dict[str, Any]]) -> None:
    cells = [
        (x, y)
        for each in shown
        for x in range(each["x"], each["x"] + each["width"])
        for y in range(each["y"], each["y"] + each["height"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
