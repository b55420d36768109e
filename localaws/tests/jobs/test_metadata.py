"""What a job asks its node for, and what it can do with the credentials that it gets."""

import base64
import json
import sys
from collections.abc import Callable
from typing import Any

import boto3
import pytest
import requests
from botocore.exceptions import ClientError

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.jobs.metadata import PREFIX
from ultracluster_local.services.iam.role_sessions import new_session

# As every SDK asks, and as one could ask that knows the documentation only.
ASK = """
import json, os, sys, urllib.error, urllib.request
from botocore.utils import ContainerMetadataFetcher, InstanceMetadataFetcher
def ask(path, method="GET", **headers):
    place = os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"] + "latest/" + path
    headers = {"X-" + name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(place, headers=headers, method=method)) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return "no answer"
PUT, AGE, TOKEN = "api/token", "aws_ec2_metadata_token_ttl_seconds", "aws_ec2_metadata_token"
def fetched():
    user = {"base_url": os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"]}
    return InstanceMetadataFetcher(num_attempts=1, **user).retrieve_iam_role_credentials()
token = ask(PUT, "PUT", **{AGE: "60"})
said = {
    "without a token": ask("meta-data/instance-id"),
    "a wrong token": ask("meta-data/instance-id", **{TOKEN: "x"}),
    "no time": ask(PUT, "PUT"),
    "too long": ask(PUT, "PUT", **{AGE: "21601"}),
    "forwarded": ask(PUT, "PUT", **{AGE: "60", "forwarded_for": "1.2.3.4"}),
    "node": ask("meta-data/instance-id", **{TOKEN: token} if isinstance(token, str) else {}),
    "nothing": ask("meta-data/nothing", **{TOKEN: token} if isinstance(token, str) else {}),
    "SDK": sorted(fetched()),
    "task": sorted(ContainerMetadataFetcher().retrieve_full_uri(os.environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"]))
    if "AWS_CONTAINER_CREDENTIALS_FULL_URI" in os.environ else None,
}
print(json.dumps(said))
"""
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


@pytest.fixture
def account(batch: Any) -> Any:
    """The account of `batch`, whose nodes and jobs have roles."""
    iam = batch.local.client("iam", "us-east-1")
    iam.put_role_policy(RoleName="node", PolicyName="agent", PolicyDocument=json.dumps(NODE_POLICY))
    iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
    iam.create_role(RoleName="job", AssumeRolePolicyDocument="{}", Path="/")
    return batch


def ask(
    account: Any, *, user_data: str = "", nodes: int = 0, container: Any = None, **options: Any
) -> dict[str, Any]:
    """Launch nodes with options of their metadata, and return what a job on them is told."""
    data = {"ImageId": "ami-0123456789abcdef0", "MetadataOptions": {"HttpPutResponseHopLimit": 1, **options}}
    data["UserData"] = base64.b64encode(user_data.encode()).decode()
    account.ec2.create_launch_template_version(LaunchTemplateName="nodes", LaunchTemplateData=data)
    job = account.run(sys.executable, "-c", ASK, nodes=nodes, container=container or {})
    if nodes:
        job = account.job(f"{job['jobId']}#0")
    (line, *more) = account.lines(job)
    assert not more, more
    told: dict[str, Any] = json.loads(line)
    return told


CREDENTIALS = ["access_key", "expiry_time", "role_name", "secret_key", "token"]


@pytest.mark.parametrize(("tokens", "nodes"), [("required", 0), ("optional", 0), ("required", 2)])
def test_metadata_ask_for_a_token_as_the_options_of_the_instance_do(
    account: Any, tokens: str, nodes: int
) -> None:
    told = ask(account, HttpTokens=tokens, nodes=nodes)

    assert str(told["node"]).startswith("i-")
    assert told == {
        "without a token": told["node"] if tokens == "optional" else 401,
        "a wrong token": 401,
        "no time": 400,
        "too long": 400,
        "forwarded": 403,
        "node": told["node"],
        "nothing": 404,
        "SDK": CREDENTIALS,
        "task": None,
    }


def test_metadata_that_are_switched_off_answer_nobody(account: Any) -> None:
    told = ask(account, HttpEndpoint="disabled")

    assert set(map(str, told.values())) == {"403", "[]", "None"}


@pytest.mark.parametrize(("nodes", "reached"), [(0, True), (2, False)])
def test_the_agent_keeps_tasks_with_an_interface_of_their_own_from_the_node(
    account: Any, nodes: int, *, reached: bool
) -> None:
    container = {"jobRoleArn": f"arn:aws:iam::{ACCOUNT}:role/job"}
    told = ask(
        account,
        user_data="echo ECS_AWSVPC_BLOCK_IMDS=true >>/etc/ecs/ecs.config",
        nodes=nodes,
        container=container,
    )

    assert told["SDK"] == (CREDENTIALS if reached else [])
    assert str(told["node"]).startswith("i-" if reached else "no answer")
    assert told["task"] == ["AccessKeyId", "Expiration", "RoleArn", "SecretAccessKey", "Token"]


def denial(call: Callable[..., Any], **given: Any) -> tuple[str, str] | None:
    try:
        call(**given)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response["Error"]["Message"]
    return None


Thief = Callable[[str], Any]
"""Returns a client for a service with the credentials of a node."""


@pytest.fixture
def thief(account: Any) -> Thief:
    found = new_session("node", "i-0123456789abcdef0")
    keys = (found["AccessKeyId"], found["SecretAccessKey"], found["Token"])
    session = boto3.Session(*keys, region_name="us-east-1")
    account.local.client("ecs", "us-east-1").create_cluster(clusterName="AWSBatch-nodes-1")
    return lambda service: session.client(service, endpoint_url=account.local.endpoint)


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


def test_a_session_without_its_token_is_nobody(account: Any) -> None:
    found = new_session("node", "i-0123456789abcdef0")
    client = boto3.Session(found["AccessKeyId"], "x", region_name="us-east-1").client(
        "ecs", endpoint_url=account.local.endpoint
    )

    assert denial(client.list_clusters) == (
        "InvalidClientTokenId",
        "The security token included in the request is invalid.",
    )


def test_nobody_guesses_the_place_of_metadata_and_no_page_reads_them(account: Any) -> None:
    place = f"{account.local.endpoint}{PREFIX}guessed/latest/meta-data/instance-id"
    assert requests.get(place, timeout=10).status_code == 403
