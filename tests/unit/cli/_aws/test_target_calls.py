"""Each request of a client is counted once, including retries."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError

from ultracluster_cli._aws.target import CallCounts
from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

REGION = "us-east-1"


def test_counts_each_call_of_each_client_once(local_aws: LocalAws) -> None:
    calls = CallCounts()
    client = calls.wrap(local_aws.client)
    for _ in range(3):
        client("ec2", REGION).describe_vpcs()
    client("ec2", "us-east-2").describe_vpcs()
    client("s3", REGION).list_buckets()
    with pytest.raises(ClientError):
        client("ec2", REGION).describe_vpcs(VpcIds=["vpc-0123456789abcdef0"])
    assert calls.sent == {"ec2:DescribeVpcs": 5, "s3:ListBuckets": 1}
    assert list(calls.sent) == ["ec2:DescribeVpcs", "s3:ListBuckets"]


class _Nothing:
    def stream(self) -> Iterator[bytes]:
        return iter(())


def test_counts_retries(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps the credentials of another local AWS
    for name, value in local_aws.environment(REGION).items():
        monkeypatch.setenv(name, value)
    calls = CallCounts()
    again = Config(retries={"total_max_attempts": 3, "mode": "standard"})
    client = calls.wrap(boto3.client)("ec2", config=again)
    busy = iter([True, False])
    client.meta.events.register(
        "before-send",
        lambda request, **_: AWSResponse(request.url, 503, {}, _Nothing()) if next(busy) else None,
    )
    assert client.describe_vpcs()["Vpcs"]
    assert calls.sent == {"ec2:DescribeVpcs": 2}


def test_threads_count_together(local_aws: LocalAws) -> None:
    calls = CallCounts()
    client = calls.wrap(local_aws.client)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: client("s3", REGION).list_buckets(), range(20)))
    assert calls.sent == {"s3:ListBuckets": 20}
