"""What the local AWS asks itself is answered as it is over HTTP, and opens no connection."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.running import running

pytestmark = pytest.mark.slow

REGION = "us-east-1"


@pytest.fixture
def connections(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The connections that the server has taken."""
    assert local_aws._server is not None
    server, taken = local_aws._server._server, list[Any]()
    process = server.process_request
    monkeypatch.setattr(server, "process_request", lambda *one: (taken.append(one), process(*one)))
    return taken


def test_an_internal_request_opens_no_connection(local_aws: LocalAws, connections: list[Any]) -> None:
    assert running().clients.get("ec2", REGION).describe_vpcs()["Vpcs"]
    assert connections == []
    assert local_aws.client("ec2", REGION).describe_vpcs()["Vpcs"]
    assert len(connections) == 1


def without_metadata(answer: Any) -> Any:
    return json.loads(json.dumps({**answer, "ResponseMetadata": None}, default=str))


@pytest.mark.parametrize(
    ("service", "call", "parameters"),
    [
        pytest.param("ec2", "describe_subnets", {}, id="EC2's query protocol"),
        pytest.param("iam", "list_roles", {}, id="the query protocol"),
        pytest.param("ssm", "describe_parameters", {}, id="JSON"),
        pytest.param("batch", "describe_job_queues", {}, id="REST with JSON"),
        pytest.param("s3", "list_buckets", {}, id="REST with XML"),
        pytest.param("s3", "head_bucket", {"Bucket": "a-bucket"}, id="an answer without a body"),
        pytest.param("s3", "list_objects_v2", {"Bucket": "a-bucket", "Prefix": "a b/ü"}, id="a query string"),
    ],
)
def test_every_protocol_is_answered_as_over_http(
    local_aws: LocalAws, service: str, call: str, parameters: dict[str, Any]
) -> None:
    s3 = local_aws.client("s3", REGION)
    s3.create_bucket(Bucket="a-bucket")
    s3.put_object(Bucket="a-bucket", Key="a b/ü+1", Body=b"found")
    own, over_http = running().clients.get(service, REGION), local_aws.client(service, REGION)
    mine, theirs = getattr(own, call)(**parameters), getattr(over_http, call)(**parameters)
    assert without_metadata(mine) == without_metadata(theirs)
    codes = {each["ResponseMetadata"]["HTTPStatusCode"] for each in (mine, theirs)}
    assert codes == {200}


@pytest.mark.parametrize("body", [b"", b"bytes", b"\x00\xff" * 70_000], ids=["empty", "short", "large"])
def test_bodies_arrive_and_return_whole(local_aws: LocalAws, body: bytes) -> None:
    own, over_http = running().clients.get("s3", REGION), local_aws.client("s3", REGION)
    own.create_bucket(Bucket="a-bucket")
    own.put_object(Bucket="a-bucket", Key="a b/ü+1", Body=body, Metadata={"under_scored": "kept"})
    for client in (own, over_http):
        found = client.get_object(Bucket="a-bucket", Key="a b/ü+1")
        assert found["Body"].read() == body
        assert found["Metadata"] == {"under_scored": "kept"}


def test_an_error_is_the_error_of_the_service(local_aws: LocalAws) -> None:
    said = []
    for client in (running().clients.get("ec2", REGION), local_aws.client("ec2", REGION)):
        with pytest.raises(ClientError) as refused:
            client.describe_vpcs(VpcIds=["vpc-0123456789abcdef0"])
        said.append(refused.value.response["Error"])
    assert said[0] == said[1]
    assert said[0]["Code"] == "InvalidVpcID.NotFound"


def test_many_threads_ask_at_once(local_aws: LocalAws) -> None:
    own = running().clients.get("s3", REGION)
    threads = [
        threading.Thread(target=own.create_bucket, kwargs={"Bucket": f"bucket-{number}"})
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {each["Name"] for each in local_aws.client("s3", REGION).list_buckets()["Buckets"]}
    assert {f"bucket-{number}" for number in range(8)} <= names


def test_the_clients_of_users_go_over_http(local_aws: LocalAws, connections: list[Any]) -> None:
    assert (
        Clients(endpoint=local_aws.endpoint, key=local_aws.key)
        .get("sts", REGION)
        .get_caller_identity()["Account"]
    )
    assert len(connections) == 1
