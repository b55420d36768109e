"""Metrics in CloudWatch are compared by week, with the local AWS."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.cli.conftest import Run

from ultracluster_catalog.observability.metrics import BAKE_OFF_NAMESPACE, CANDIDATE_DIMENSION
from ultracluster_cli.cost import bake_off as bake_off_weeks
from ultracluster_local import LocalAws

REGION = "us-east-2"
PATH = "BakeOff/BakeOff"
NODES = ("--nodes", "trn2=4xtrn2.48xlarge", "--nodes", "p5=4xp5.48xlarge")
WEEK = timedelta(weeks=1)


@pytest.fixture
def monday(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> date:
    """The first of two weeks in which trn2 reported; p5 reported in the second only, which is the running one."""
    for name, value in local_aws.environment(REGION).items():
        monkeypatch.setenv(name, value)
    today = datetime.now(UTC).date()
    this = datetime.combine(today - timedelta(days=today.weekday()), datetime.min.time(), UTC)
    report = local_aws.client("cloudwatch", REGION)
    for path, figure, moment, value in (
        # The last minute of a week, and the first of the next.
        (f"{PATH}/trn2", "tokens_per_second", this - timedelta(minutes=1), 100.0),
        (f"{PATH}/trn2", "tokens_per_second", this - WEEK, 200.0),
        (f"{PATH}/trn2", "tokens_per_second", this - WEEK + timedelta(minutes=1), 300.0),
        (f"{PATH}/trn2", "tokens_per_second", this, 400.0),
        (f"{PATH}/p5", "tokens_per_second", this, 600.0),
        (f"{PATH}/trn2", "loss", this, 0.0),
        (f"{PATH}/p5", "loss", this, 2.5),
        (f"{PATH}Two/trn2", "tokens_per_second", this, 9999.0),  # another bake-off
    ):
        report.put_metric_data(
            Namespace=BAKE_OFF_NAMESPACE,
            MetricData=[
                {
                    "MetricName": figure,
                    "Dimensions": [{"Name": CANDIDATE_DIMENSION, "Value": path}],
                    "Timestamp": moment,
                    "Value": value,
                }
            ],
        )
    return (this - WEEK).date()


def report(run: Run, *arguments: str) -> dict[str, Any]:
    outcome = run("cost", "bake-off", PATH, "--region", REGION, "--json", *arguments)
    assert outcome.code == 0, outcome.stderr
    told: dict[str, Any] = json.loads(outcome.stdout)
    return told


def test_weeks_are_shown_side_by_side(run: Run, monday: date) -> None:
    told = report(run, "--weeks", "3", *NODES, "--price", "p5=50")

    assert [each["name"] for each in told["candidates"]] == ["trn2", "p5"]
    assert [each["node_hour_usd"] for each in told["candidates"]] == ["35.7608", "50"]
    assert [each["first"] for each in told["weeks"]] == [str(monday + back * WEEK) for back in (-1, 0, 1)]
    assert [each["over"] for each in told["weeks"]] == [True, True, False]
    nothing, before, now = (
        {one["figure"]: one["candidates"] for one in each["figures"]} for each in told["weeks"]
    )
    assert nothing == {name: {"trn2": None, "p5": None} for name in ("loss", "tokens_per_second")}
    # Each report counts the same, not each day: 200 and 300 of Monday, 100 of Sunday.
    assert before["tokens_per_second"] == {
        "trn2": {
            "mean": 200.0,
            "reports": 3,
            "ratio": 1.0,
            "for_a_dollar": pytest.approx(200 * 3600 / (4 * 35.7608)),
            "ratio_for_a_dollar": 1.0,
        },
        "p5": None,
    }
    assert now["tokens_per_second"]["p5"] == {
        "mean": 600.0,
        "reports": 1,
        "ratio": 1.5,
        "for_a_dollar": 600 * 3600 / 200,
        "ratio_for_a_dollar": pytest.approx(1.5 * 35.7608 / 50),
    }
    assert now["loss"]["p5"] == {
        "mean": 2.5,
        "reports": 1,
        "ratio": None,  # over zero
        "for_a_dollar": None,  # not by the second
        "ratio_for_a_dollar": None,
    }


def test_the_table_marks_missing_and_unknown_values(run: Run, monday: date) -> None:
    outcome = run("cost", "bake-off", PATH, "--region", REGION, "--weeks", "2", *NODES[:2], "--nodes", "p5=4")

    assert outcome.code == 0, outcome.stderr
    lines = [line.split("  ") for line in outcome.stdout.splitlines() if "tokens" in line]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    dollar = f"{200 * 3600 / (4 * 35.7608):,.6g}"
    assert cells[:2] == [
        [f"{monday} to {monday + timedelta(days=6)}", "tokens_per_second", "200", "none", "unknown"],
        [f"{monday} to {monday + timedelta(days=6)}", "tokens per dollar", dollar, "none", "unknown"],
    ]
    assert cells[2][1:] == ["tokens_per_second", "400", "600", "1.5"]
    assert cells[3][3:] == ["unknown", "unknown"]
    assert "trn2 per hour: 143.0432 USD for 4 nodes" in outcome.stdout
    assert "p5 per hour: unknown: no instance type or price specified" in outcome.stdout
    assert "9,999" not in outcome.stdout


@pytest.mark.usefixtures("monday")
def test_without_nodes_candidates_are_discovered_without_prices(run: Run) -> None:
    told = report(run, "--figure", "tokens_per_second")
    assert len(told["weeks"]) == 4
    assert [each["name"] for each in told["candidates"]] == ["p5", "trn2"]
    (figure,) = told["weeks"][-1]["figures"]
    assert figure["candidates"]["trn2"]["for_a_dollar"] is None
    assert figure["candidates"]["trn2"]["ratio"] == pytest.approx(400 / 600)


@pytest.mark.usefixtures("monday")
def test_on_demand_prices_are_another_price(run: Run) -> None:
    trn2, p5 = report(run, *NODES, "--on-demand")["candidates"]
    assert p5["node_hour_usd"] == "55.04"
    assert trn2["node_hour_usd"] is None  # AWS publishes none
    assert trn2["reason"] == "no dated on-demand price for trn2.48xlarge in us-east-2"


@pytest.mark.usefixtures("monday")
def test_a_bake_off_without_metrics_is_a_finding(run: Run) -> None:
    outcome = run("cost", "bake-off", "BakeOff/Other", "--region", REGION)
    assert outcome.code == 2
    assert "error: CloudWatch in us-east-2 has no metrics of 'BakeOff/Other'" in outcome.stderr
    asked_for = run("cost", "bake-off", PATH, "--region", REGION, "--figure", "mfu", *NODES)
    assert "has no metrics of" in asked_for.stderr


@pytest.mark.usefixtures("monday")
def test_figures_that_listing_has_forgotten_are_read_by_name(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        bake_off_weeks, "find_figures", lambda *_, **__: {}
    )  # after two weeks without a report
    assert "has no metrics of" in run("cost", "bake-off", PATH, "--region", REGION, *NODES).stderr
    told = report(run, *NODES, "--figure", "tokens_per_second")
    assert told["weeks"][-1]["figures"][0]["candidates"]["p5"]["mean"] == 600


@pytest.mark.usefixtures("monday")
def test_an_error_of_cloudwatch_is_a_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: Any = {"Error": {"Code": "AccessDenied", "Message": "not authorized"}}

    def refuse(*_: Any, **__: Any) -> None:
        raise ClientError(refused, "ListMetrics")

    assert report(run)["weeks"]
    monkeypatch.setattr(bake_off_weeks, "find_figures", refuse)
    outcome = run("cost", "bake-off", PATH, "--region", REGION)
    assert outcome.code == 2
    assert "error: " in outcome.stderr
    assert "not authorized" in outcome.stderr
    assert "cloudwatch:GetMetricData" in outcome.stderr


def test_reports_all_invalid_options_without_a_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(bake_off_weeks, "account")
    arguments = (
        "--nodes",
        "trn2=0",
        "--nodes",
        "p5=4",
        "--price",
        "p5=0",
        "--price",
        "other=1",
        "--weeks",
        "66",
    )
    outcome = run("cost", "bake-off", PATH, "--region", REGION, *arguments)
    assert outcome.code == 2
    assert "error: --nodes: got 'trn2=0'" in outcome.stderr
    assert "error: --price: got 'p5=0'" in outcome.stderr
    assert "error: --price: got 'other=1'" in outcome.stderr
    assert "error: --weeks: got 66" in outcome.stderr


@pytest.mark.usefixtures("monday")
def test_the_first_week_may_be_as_old_as_cloudwatch_keeps(run: Run) -> None:
    assert len(report(run, "--weeks", "65")["weeks"]) == 65
    assert "error: --weeks: got 0" in run("cost", "bake-off", PATH, "--region", REGION, "--weeks", "0").stderr
