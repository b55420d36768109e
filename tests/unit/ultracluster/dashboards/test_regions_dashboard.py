"""The dashboard of clusters in several Regions."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from tests.unit.ultracluster.dashboards.dashboard_widgets import widgets

from ultracluster import RegionsDashboard
from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_each_cluster_is_read_in_its_own_region(stack: cdk.Stack) -> None:
    places = [("canary", "us-east-1"), ("pretrain", "ap-southeast-4")]
    RegionsDashboard(stack, "All", clusters=places).add_widgets(cloudwatch.TextWidget(markdown="more"))
    graphs = [each["properties"] for each in widgets(stack) if each["type"] == "metric"]
    assert [each["region"] for each in graphs] == ["us-east-1"] * 4 + ["ap-southeast-4"] * 4
    rows = [row for each in graphs for row in each["metrics"]]
    assert {(row[3], row[4]["region"]) for row in rows} == set(places)
    assert {row[1] for row in rows} <= set(METRICS)


@pytest.mark.parametrize(
    "clusters", [[], [("a", "us-east-1")] * 2, [(f"c{number}", "us-east-1") for number in range(101)]]
)
def test_rejects_no_cluster_one_twice_and_more_than_fit(
    stack: cdk.Stack, clusters: list[tuple[str, str]]
) -> None:
    with pytest.raises(FindingsError, match="UC6444"):
        RegionsDashboard(stack, "All", clusters=clusters)


def test_as_many_clusters_as_fit_are_shown(stack: cdk.Stack) -> None:
    RegionsDashboard(stack, "All", clusters=[(f"c{number}", "us-east-1") for number in range(100)])
    assert len(widgets(stack)) == 500
