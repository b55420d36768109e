"""Checks of requests before a service sees them."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.services import checks
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _checks_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = {place: [*found] for place, found in checks._CHECKS.items()}
    monkeypatch.setattr(checks, "_CHECKS", copied)


def seen_by(service: str, operation: str) -> list[Request]:
    seen: list[Request] = []
    Checks(service=service)(operation)(seen.append)
    return seen


def test_a_check_sees_the_parameters_by_the_names_of_the_api(local_aws: LocalAws) -> None:
    seen = seen_by("sqs", "CreateQueue")

    local_aws.client("sqs", "us-east-2").create_queue(QueueName="q", tags={"a": "b"})

    (request,) = seen
    assert (request.operation, request.region) == ("CreateQueue", "us-east-2")
    assert request.parameters == {"QueueName": "q", "tags": {"a": "b"}}


def test_a_request_that_a_check_refuses_reaches_no_service(local_aws: LocalAws) -> None:
    @Checks(service="sqs")("CreateQueue", "ListQueues")
    def refuse(request: Request) -> None:
        if request.parameters.get("QueueName") == "bad":
            raise ServiceError("UnsupportedOperation", "No such name.")

    sqs = local_aws.client("sqs")
    sqs.create_queue(QueueName="good")
    with pytest.raises(ClientError, match=r"UnsupportedOperation\).*No such name\."):
        sqs.create_queue(QueueName="bad")

    assert [url.rsplit("/", 1)[-1] for url in sqs.list_queues()["QueueUrls"]] == ["good"]


def test_the_first_of_several_checks_answers(local_aws: LocalAws) -> None:
    for code in ("InvalidAddress", "InvalidSecurity"):

        @Checks(service="sqs")("ListQueues")
        def refuse(_: Request, code: str = code) -> None:
            raise ServiceError(code, "no")

    with pytest.raises(ClientError, match="InvalidAddress"):
        local_aws.client("sqs").list_queues()


def test_parameters_in_the_path_of_a_rest_request_are_seen(local_aws: LocalAws) -> None:
    seen = seen_by("lambda", "DeleteFunction")

    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        local_aws.client("lambda").delete_function(FunctionName="f", Qualifier="7")

    assert {name: seen[0].parameters[name] for name in ("FunctionName", "Qualifier")} == {
        "FunctionName": "f",
        "Qualifier": "7",
    }


def test_requests_for_a_bucket_are_distinguished_by_their_query(local_aws: LocalAws) -> None:
    s3, seen = local_aws.client("s3"), {}
    for operation in ("CreateBucket", "PutBucketTagging", "PutBucketPolicy"):
        seen[operation] = seen_by("s3", operation)
    s3.create_bucket(Bucket="mine", ObjectOwnership="ObjectWriter")
    s3.put_bucket_tagging(Bucket="mine", Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})

    (created,), (tagged,) = seen["CreateBucket"], seen["PutBucketTagging"]
    assert (created.parameters["Bucket"], created.parameters["ObjectOwnership"]) == ("mine", "ObjectWriter")
    assert tagged.parameters["Tagging"] == {"TagSet": [{"Key": "a", "Value": "b"}]}
    assert seen["PutBucketPolicy"] == []


def test_a_refusal_of_a_bucket_has_the_form_of_s3(local_aws: LocalAws) -> None:
    @Checks(service="s3")("PutBucketPolicy")
    def refuse(_: Request) -> None:
        raise ServiceError("MalformedPolicy", "Because.")

    s3: Any = local_aws.client("s3")
    s3.create_bucket(Bucket="mine")
    with pytest.raises(ClientError) as caught:
        s3.put_bucket_policy(Bucket="mine", Policy=json.dumps({"Statement": []}))

    assert caught.value.response["Error"]["Code"] == "MalformedPolicy"
    assert caught.value.response["Error"]["Message"] == "Because."
