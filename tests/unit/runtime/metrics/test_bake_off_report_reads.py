"""Reading the metrics of a bake-off, with responses that follow botocore's model."""

from datetime import UTC, date, datetime
from typing import Any

import boto3
from botocore.stub import ANY, Stubber

from ultracluster_runtime.metrics.bake_off_report import Samples, find_figures, read_samples, weeks_until

MONDAY = date(2026, 11, 16)


def client() -> Any:
    return boto3.client(
        "cloudwatch", region_name="us-east-2", aws_access_key_id="none", aws_secret_access_key="none"
    )


def result(number: int, *points: tuple[int, float]) -> dict[str, Any]:
    return {
        "Id": f"m{number}",
        "Timestamps": [datetime(2026, 11, day, tzinfo=UTC) for day, _ in points],
        "Values": [value for _, value in points],
    }


def test_sums_days_of_a_week_across_pages() -> None:
    cloudwatch = client()
    asked = {
        "MetricDataQueries": ANY,
        "StartTime": datetime(2026, 11, 9, tzinfo=UTC),
        "EndTime": datetime(2026, 11, 23, tzinfo=UTC),
        "ScanBy": "TimestampAscending",
    }
    with Stubber(cloudwatch) as answers:
        # Sum of loss, its count; the week before ends on the 15th.
        first = [result(0, (15, 8.0), (16, 3.0)), result(1, (15, 2.0), (16, 1.0))]
        answers.add_response("get_metric_data", {"MetricDataResults": first, "NextToken": "more"}, asked)
        second = [result(0, (22, 9.0)), result(1, (22, 3.0)), result(2), result(3)]
        answers.add_response("get_metric_data", {"MetricDataResults": second}, {**asked, "NextToken": "more"})
        found = read_samples(
            cloudwatch,
            bake_off="Stack/BakeOff",
            candidates=["trn2", "p5"],
            figures=["loss"],
            mondays=weeks_until(date(2026, 11, 22), 2),
        )
        answers.assert_no_pending_responses()
    assert found == {
        (date(2026, 11, 9), "loss", "trn2"): Samples(total=8.0, count=2.0),
        (MONDAY, "loss", "trn2"): Samples(total=12.0, count=4.0),
    }


def test_finds_the_candidates_of_this_bake_off() -> None:
    cloudwatch = client()
    with Stubber(cloudwatch) as answers:
        answers.add_response(
            "list_metrics",
            {
                "Metrics": [
                    {
                        "Namespace": "UltraCluster/BakeOff",
                        "MetricName": figure,
                        "Dimensions": [{"Name": "Candidate", "Value": path}],
                    }
                    for path, figure in (("A/B/trn2", "loss"), ("A/B/trn2", "mfu"), ("A/B/C/p5", "loss"))
                ]
            },
            {"Namespace": "UltraCluster/BakeOff"},
        )
        assert find_figures(cloudwatch, bake_off="A/B") == {"trn2": ["loss", "mfu"]}
