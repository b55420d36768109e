"""Request metrics of S3 on the local AWS: kept, shown, and counted for objects under their prefix."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

REGION = "us-east-2"


@pytest.fixture
def s3(local_aws: LocalAws) -> Any:
    client = local_aws.client("s3", REGION)
    client.create_bucket(Bucket="cache", CreateBucketConfiguration={"LocationConstraint": REGION})
    return client


def configure(s3: Any, prefix: str | None = "neuron/", name: str = "compile-cache") -> None:
    configuration: dict[str, Any] = {"Id": name}
    if prefix is not None:
        configuration["Filter"] = {"Prefix": prefix}
    s3.put_bucket_metrics_configuration(Bucket="cache", Id=name, MetricsConfiguration=configuration)


def counted(local_aws: LocalAws, metric: str, filter_id: str = "compile-cache") -> float:
    now = datetime.now(UTC)
    points = local_aws.client("cloudwatch", REGION).get_metric_statistics(
        Namespace="AWS/S3",
        MetricName=metric,
        Dimensions=[{"Name": "BucketName", "Value": "cache"}, {"Name": "FilterId", "Value": filter_id}],
        StartTime=now - timedelta(hours=1),
        EndTime=now + timedelta(hours=1),
        Period=7_200,
        Statistics=["Sum"],
    )["Datapoints"]
    return sum(float(point["Sum"]) for point in points)


def test_configurations_are_kept_shown_and_removed(s3: Any) -> None:
    configure(s3)
    configure(s3, None, "all")
    shown = s3.get_bucket_metrics_configuration(Bucket="cache", Id="compile-cache")["MetricsConfiguration"]
    assert shown == {"Id": "compile-cache", "Filter": {"Prefix": "neuron/"}}
    listed = s3.list_bucket_metrics_configurations(Bucket="cache")["MetricsConfigurationList"]
    assert [one["Id"] for one in listed] == ["compile-cache", "all"]
    s3.delete_bucket_metrics_configuration(Bucket="cache", Id="all")
    listed = s3.list_bucket_metrics_configurations(Bucket="cache")["MetricsConfigurationList"]
    assert [one["Id"] for one in listed] == ["compile-cache"]
    with pytest.raises(ClientError, match="NoSuchConfiguration"):
        s3.get_bucket_metrics_configuration(Bucket="cache", Id="all")
    with pytest.raises(ClientError, match="NoSuchBucket"):
        s3.list_bucket_metrics_configurations(Bucket="none")


def test_requests_under_the_prefix_are_counted_and_no_others(s3: Any, local_aws: LocalAws) -> None:
    s3.put_object(Bucket="cache", Key="neuron/before", Body=b"")
    configure(s3)
    with pytest.raises(ClientError, match="404"):
        s3.head_object(Bucket="cache", Key="neuron/graph")
    s3.put_object(Bucket="cache", Key="neuron/graph", Body=b"NEFF")
    s3.put_object(Bucket="cache", Key="other/graph", Body=b"NEFF")
    for _ in range(3):
        s3.get_object(Bucket="cache", Key="neuron/graph")
    s3.list_objects_v2(Bucket="cache", Prefix="neuron/")
    found = {name: counted(local_aws, name) for name in ("GetRequests", "PutRequests", "HeadRequests")}
    assert found == {"GetRequests": 3, "PutRequests": 1, "HeadRequests": 1}
    assert counted(local_aws, "4xxErrors") == 1
    assert counted(local_aws, "AllRequests") == 5


def test_a_new_bucket_of_an_old_name_counts_nothing(s3: Any, local_aws: LocalAws) -> None:
    configure(s3)
    s3.delete_bucket(Bucket="cache")
    s3.create_bucket(Bucket="cache", CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket="cache", Key="neuron/graph", Body=b"NEFF")
    assert "MetricsConfigurationList" not in s3.list_bucket_metrics_configurations(Bucket="cache")
    assert counted(local_aws, "PutRequests") == 0
