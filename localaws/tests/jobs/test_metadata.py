"""What a job asks its node for: its metadata, and the credentials of its task."""

import base64
import json
import sys
from typing import Any

import pytest
import requests

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.jobs.metadata import PREFIX

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


@pytest.fixture
def account(batch: Any) -> Any:
    """The account of `batch`, whose nodes and jobs have roles."""
    iam = batch.local.client("iam", "us-east-1")
    iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
    iam.create_role(RoleName="job", AssumeRolePolicyDocument="{}", Path="/")
    return batch


def ask(
    account: Any, *, user_data: str = "", nodes: int = 0, container: Any = None, **options: Any
) -> dict[str, Any]:
    """Launch nodes with these metadata options, and return what a job on them gets from the service."""
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


def test_nobody_guesses_the_place_of_metadata_and_no_page_reads_them(account: Any) -> None:
    place = f"{account.local.endpoint}{PREFIX}guessed/latest/meta-data/instance-id"
    assert requests.get(place, timeout=10).status_code == 403
