"""Clients of boto3 are made when they are needed, kept, and count their requests."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_runtime.functions.clients import OF_FUNCTIONS, ONCE, Clients, patience

REGION = "us-east-1"


@pytest.fixture
def clients(local_aws: LocalAws) -> Clients:
    keys = {"aws_access_key_id": local_aws.key, "aws_secret_access_key": "local"}
    return Clients(partial(boto3.Session().client, endpoint_url=local_aws.endpoint, **keys), region=REGION)


@pytest.mark.slow
def test_a_client_is_made_once_for_each_service_region_and_configuration(clients: Clients) -> None:
    batch = clients("batch")
    assert batch is clients("batch", REGION) is clients.in_region("us-east-2")("batch", REGION)
    others = [
        clients("batch", "us-east-2"),
        clients("batch", config=ONCE),
        clients.make("batch", REGION, ONCE),
    ]
    assert len({id(client) for client in (batch, *others)}) == 4
    assert clients.in_region("us-east-2")("batch") is others[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "changed", "attempts", "connect", "read"),
    [
        (
            patience(),
            None,
            5,
            5,
            30,
        ),  # botocore waits a minute for each, in which nothing shows a lost network
        (OF_FUNCTIONS, None, 3, 3, 10),  # it gives up before the next minute
        (OF_FUNCTIONS, ONCE, 1, 3, 10),
    ],
)
def test_a_client_gives_up_in_time(
    config: Config, changed: Config | None, attempts: int, connect: int, read: int
) -> None:
    made = Clients(boto3.Session().client, region=REGION, config=config)("batch", config=changed).meta.config
    assert made.retries == {"mode": "standard", "total_max_attempts": attempts}
    assert (made.connect_timeout, made.read_timeout) == (connect, read)
    assert made.user_agent_extra == "ultracluster"


@pytest.mark.slow
def test_each_call_of_each_client_is_counted_once(clients: Clients) -> None:
    for _ in range(3):
        clients("ec2").describe_vpcs()
    clients.in_region("us-east-2")("ec2").describe_vpcs()
    clients("s3").list_buckets()
    with pytest.raises(ClientError):
        clients("ec2").describe_vpcs(VpcIds=["vpc-0123456789abcdef0"])
    assert list(clients.sent.items()) == [("ec2:DescribeVpcs", 5), ("s3:ListBuckets", 1)]


class _Nothing:
    def stream(self) -> Iterator[bytes]:
        return iter(())


@pytest.mark.slow
def test_requests_that_are_repeated_are_counted(clients: Clients) -> None:
    busy = iter([True, False])

    def answer(request: Any, **_: Any) -> AWSResponse | None:
        return AWSResponse(request.url, 503, {}, _Nothing()) if next(busy) else None

    clients("ec2").meta.events.register("before-send", answer)
    assert clients("ec2").describe_vpcs()["Vpcs"]
    assert clients.sent == {"ec2:DescribeVpcs": 2}


@pytest.mark.slow
def test_threads_count_together(clients: Clients) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: clients("s3").list_buckets(), range(20)))
    assert clients.sent == {"s3:ListBuckets": 20}
