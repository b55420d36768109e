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
        ("batch.submit_job", {"jobName": "j", "jobQueue": "training", "jobDefinition": "d"}, "AccessDeniedException", ":job-definition/d because"),
        ("batch.cancel_job", {"jobId": "j", "reason": "r"}, "AccessDeniedException", "with an explicit deny in an identity-based policy"),
        ("s3.list_buckets", {}, "AccessDenied", "s3:ListAllMyBuckets on resource: * because"),
        ("ec2.terminate_instances", {"InstanceIds": ["i-1"]}, "UnauthorizedOperation", ":instance/i-1 because"),
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


POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "arn:aws:sqs:us-east-1:123456789012:own"},
        {"Effect": "Allow", "Action": ["s3:PutObject", "s3:ListBucket"], "Resource": ["arn:aws:s3:::kept", "arn:aws:s3:::kept/a/*"]},
        {"Effect": "Allow", "Action": "ssm:SendCommand", "Resource": ["arn:aws:ssm:*::document/AWS-RunShellScript", "arn:aws:ec2:*:*:instance/*"]},
        {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": "arn:aws:ssm:us-east-1:123456789012:parameter/own/*"},
        {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "Own"}},
        },
        {
            "Effect": "Allow",
            "Action": "ec2:TerminateInstances",
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:ResourceTag/cluster": "own"}},
        },
    ],
}  # fmt: skip
METRIC = [{"MetricName": "m", "Value": 1}]


@pytest.mark.parametrize(
    ("call", "given", "allowed"),
    [
        ("sqs.send_message", {"QueueUrl": "http://localhost/123456789012/own", "MessageBody": "m"}, True),
        ("sqs.send_message", {"QueueUrl": "http://localhost/123456789012/other", "MessageBody": "m"}, False),
        ("s3.put_object", {"Bucket": "kept", "Key": "a/b", "Body": b""}, True),
        ("s3.put_object", {"Bucket": "kept", "Key": "b", "Body": b""}, False),
        ("s3.list_objects_v2", {"Bucket": "kept"}, True),
        ("s3.get_object", {"Bucket": "kept", "Key": "a/b"}, False),
        ("ssm.get_parameter", {"Name": "/own/a"}, True),
        ("ssm.get_parameter", {"Name": "/other"}, False),
        ("ssm.send_command", {"DocumentName": "AWS-RunShellScript", "InstanceIds": ["i-01234567"]}, True),
        ("ssm.send_command", {"DocumentName": "own", "InstanceIds": ["i-01234567"]}, False),
        ("cloudwatch.put_metric_data", {"Namespace": "Own", "MetricData": METRIC}, True),
        ("cloudwatch.put_metric_data", {"Namespace": "Other", "MetricData": METRIC}, False),
        # A request does not show the tags of what it names: they count for the caller.
        ("ec2.terminate_instances", {"InstanceIds": ["i-01234567"]}, True),
        ("sts.get_caller_identity", {}, True),
    ],
)
@pytest.mark.parametrize("as_user", [False, True])
def test_a_role_and_a_user_may_call_what_their_policies_allow(
    local_aws: LocalAws, call: str, given: Any, allowed: bool, as_user: bool
) -> None:
    iam = local_aws.client("iam", REGION)
    local_aws.client("s3", REGION).create_bucket(Bucket="kept")
    if as_user:
        iam.create_user(UserName="somebody")
        iam.put_user_policy(UserName="somebody", PolicyName="p", PolicyDocument=json.dumps(POLICY))
        found = iam.create_access_key(UserName="somebody")["AccessKey"]
    else:
        trust = {"Effect": "Allow", "Principal": {"AWS": "123456789012"}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        role = iam.create_role(RoleName="somebody", AssumeRolePolicyDocument=document)["Role"]["Arn"]
        iam.put_role_policy(RoleName="somebody", PolicyName="p", PolicyDocument=json.dumps(POLICY))
        sts = local_aws.client("sts", REGION)
        found = sts.assume_role(RoleArn=role, RoleSessionName="session")["Credentials"]
    session = boto3.Session(
        found["AccessKeyId"], found["SecretAccessKey"], found.get("SessionToken"), region_name=REGION
    )
    service, _, operation = call.partition(".")

    denied = denial(getattr(session.client(service, endpoint_url=local_aws.endpoint), operation), **given)

    assert (denied is None or "not authorized" not in denied[1]) == allowed, denied
