"""What the session of a role may call: what the policies of the role allow, and nothing without its token."""

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.services.iam.role_sessions import new_session

REGION = "us-east-1"
NODE_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Action": "ecs:DiscoverPollEndpoint", "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": "ecs:RegisterContainerInstance",
            "Resource": "arn:aws:ecs:*:*:cluster/AWSBatch-nodes-*",
        },
        {"Effect": "Deny", "Action": "batch:CancelJob", "Resource": "*"},
    ],
}


def denial(call: Callable[..., Any], **given: Any) -> tuple[str, str] | None:
    try:
        call(**given)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response["Error"]["Message"]
    return None


Thief = Callable[[str], Any]
"""Returns a client for a service with the credentials of a node."""


@pytest.fixture
def thief(local_aws: LocalAws) -> Thief:
    iam = local_aws.client("iam", REGION)
    iam.create_role(RoleName="node", AssumeRolePolicyDocument="{}", Path="/")
    iam.put_role_policy(RoleName="node", PolicyName="agent", PolicyDocument=json.dumps(NODE_POLICY))
    found = new_session("node", "i-0123456789abcdef0")
    keys = (found["AccessKeyId"], found["SecretAccessKey"], found["Token"])
    session = boto3.Session(*keys, region_name=REGION)
    local_aws.client("ecs", REGION).create_cluster(clusterName="AWSBatch-nodes-1")
    return lambda service: session.client(service, endpoint_url=local_aws.endpoint)


@pytest.mark.parametrize(
    ("call", "given", "code", "said"),
    [
        ("ecs.discover_poll_endpoint", {}, None, ""),
        ("ecs.register_container_instance", {"cluster": "AWSBatch-nodes-1"}, None, ""),
        ("ecs.register_container_instance", {"cluster": "AWSBatch-theirs-1"}, "AccessDeniedException", ":cluster/AWSBatch-theirs-1 because"),
        ("ecs.stop_task", {"cluster": "AWSBatch-nodes-1", "task": "t"}, "AccessDeniedException", ":task/AWSBatch-nodes-1/t because"),
        ("batch.terminate_job", {"jobId": "j", "reason": "r"}, "AccessDeniedException", ":job/j because"),
        ("batch.submit_job", {"jobName": "j", "jobQueue": "training", "jobDefinition": "d"}, "AccessDeniedException", ":job-queue/training because"),
        ("batch.cancel_job", {"jobId": "j", "reason": "r"}, "AccessDeniedException", "with an explicit deny in an identity-based policy"),
        ("s3.list_buckets", {}, "UnsupportedOperation", "evaluates no policies for requests of s3"),
    ],
)  # fmt: skip
def test_the_role_of_a_node_may_call_what_its_policies_allow_and_hears_why_not(
    thief: Thief, call: str, given: Any, code: str | None, said: str
) -> None:
    service, _, operation = call.partition(".")

    found = denial(getattr(thief(service), operation), **given)

    if code is None:  # what moto lacks is another refusal
        assert found is None or "not authorized" not in found[1]
    else:
        assert found is not None
        assert (found[0], said in found[1]) == (code, True), found


@pytest.mark.usefixtures("thief")
def test_a_session_without_its_token_is_nobody(local_aws: LocalAws) -> None:
    found = new_session("node", "i-0123456789abcdef0")
    client = boto3.Session(found["AccessKeyId"], "x", region_name=REGION).client(
        "ecs", endpoint_url=local_aws.endpoint
    )

    assert denial(client.list_clusters) == (
        "InvalidClientTokenId",
        "The security token included in the request is invalid.",
    )
