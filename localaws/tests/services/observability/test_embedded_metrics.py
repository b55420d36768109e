"""Metrics in log events."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.alarms.watched_logs import REGION, embedded, log

from ultracluster_local import LocalAws

MINUTE = timedelta(minutes=1)


@pytest.mark.usefixtures("inbox")
def test_metrics_in_log_events_are_data_points_under_each_set_of_dimensions(local_aws: LocalAws) -> None:
    moment = datetime.now(UTC).replace(second=0, microsecond=0)
    log(local_aws, embedded([1, 2.5], moment), "REPORT " + embedded(4, moment), "not json {", '{"_aws": 1}')
    cloudwatch = local_aws.client("cloudwatch", REGION)
    # moto's statistics add up all series that have the dimensions, so those of the larger set count twice for the smaller.
    for dimensions, total in (({"Cluster": "a"}, 15), ({"Cluster": "a", "Job": "train"}, 7.5)):
        (point,) = cloudwatch.get_metric_statistics(
            Namespace="Test",
            MetricName="Load",
            Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
            StartTime=moment,
            EndTime=moment + MINUTE,
            Period=60,
            Statistics=["Sum", "SampleCount"],
        )["Datapoints"]
        assert point["Sum"] == total
    assert {each["MetricName"] for each in cloudwatch.list_metrics(Namespace="Test")["Metrics"]} == {"Load"}
