"""Reading the metrics of a bake-off, with responses that follow botocore's model."""

from datetime import UTC, date, datetime
from typing import Any

from botocore.stub import ANY
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.metrics.bake_off_report import Samples, find_figures, read_samples, weeks_until

MONDAY = date(2026, 11, 16)


def result(number: int, *points: tuple[int, float]) -> dict[str, Any]:
    return {
        "Id": f"m{number}",
        "Timestamps": [datetime(2026, 11, day, tzinfo=UTC) for day, _ in points],
        "Values": [value for _, value in points],
    }


def test_sums_days_of_a_week_across_pages(aws: StubbedAws) -> None:
    asked = {
        "MetricDataQueries": ANY,
        "StartTime": datetime(2026, 11, 9, tzinfo=UTC),
        "EndTime": datetime(2026, 11, 23, tzinfo=UTC),
        "ScanBy": "TimestampAscending",
    }
    # Sum of loss, its count; the week before ends on the 15th.
    first = [result(0, (15, 8.0), (16, 3.0)), result(1, (15, 2.0), (16, 1.0))]
    answer = {"MetricDataResults": first, "NextToken": "more"}
    aws.answer("cloudwatch", "get_metric_data", answer, asked)
    second = [result(0, (22, 9.0)), result(1, (22, 3.0)), result(2), result(3)]
    answer = {"MetricDataResults": second}
    aws.answer("cloudwatch", "get_metric_data", answer, {**asked, "NextToken": "more"})
    found = read_samples(
        aws.client("cloudwatch"),
        bake_off="Stack/BakeOff",
        candidates=["trn2", "p5"],
        figures=["loss"],
        mondays=weeks_until(date(2026, 11, 22), 2),
    )
    assert found == {
        (date(2026, 11, 9), "loss", "trn2"): Samples(total=8.0, count=2.0),
        (MONDAY, "loss", "trn2"): Samples(total=12.0, count=4.0),
    }


def test_finds_the_candidates_of_this_bake_off(aws: StubbedAws) -> None:
    metrics = [
        {
            "Namespace": "UltraCluster/BakeOff",
            "MetricName": figure,
            "Dimensions": [{"Name": "Candidate", "Value": path}],
        }
        for path, figure in (("A/B/trn2", "loss"), ("A/B/trn2", "mfu"), ("A/B/C/p5", "loss"))
    ]
    aws.answer("cloudwatch", "list_metrics", {"Metrics": metrics}, {"Namespace": "UltraCluster/BakeOff"})
    assert find_figures(aws.client("cloudwatch"), bake_off="A/B") == {"trn2": ["loss", "mfu"]}
