"""Compute environments and the queues that use them."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.refusals import refusal
from tests.services.batch.training_queue import training_queue

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return training_queue(local_aws)


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_environment_that_a_queue_uses_cannot_go(batch: Any) -> None:
    batch.update_compute_environment(computeEnvironment="nodes", state="DISABLED")
    with pytest.raises(ClientError, match="existing JobQueue relationship") as caught:
        batch.delete_compute_environment(computeEnvironment="nodes")
    assert code(caught) == "ClientException"
    batch.update_job_queue(jobQueue="training", state="DISABLED")
    batch.delete_job_queue(jobQueue="training")
    batch.delete_compute_environment(computeEnvironment="nodes")
    (left,) = batch.describe_compute_environments(computeEnvironments=["nodes"])["computeEnvironments"]
    assert (left["state"], left["status"]) == ("DISABLED", "DELETING")
    assert batch.describe_compute_environments()["computeEnvironments"] == []


def managed(local_aws: LocalAws, **more: Any) -> Any:
    """Create an environment of subnets and security groups that exist, and return a client of AWS Batch."""
    ec2, client = local_aws.client("ec2"), local_aws.client("batch")
    subnet = ec2.describe_subnets()["Subnets"][0]
    (group, *_) = ec2.describe_security_groups(
        Filters=[
            {"Name": "vpc-id", "Values": [subnet["VpcId"]]},
            {"Name": "group-name", "Values": ["default"]},
        ]
    )["SecurityGroups"]
    resources = {
        "type": "EC2",
        "minvCpus": 0,
        "maxvCpus": 192,
        "instanceTypes": ["trn2.48xlarge"],
        "instanceRole": "role",
        "subnets": [subnet["SubnetId"]],
        "securityGroupIds": [group["GroupId"]],
    }
    client.create_compute_environment(
        computeEnvironmentName="nodes", type="MANAGED", computeResources=resources | more
    )
    return client


def changed(batch: Any, **resources: Any) -> dict[str, Any]:
    batch.update_compute_environment(computeEnvironment="nodes", computeResources=resources)
    (shown,) = batch.describe_compute_environments()["computeEnvironments"]
    return dict(shown["computeResources"])


@pytest.mark.parametrize(
    "scaling",
    [
        {"minvCpus": 192},
        {"maxvCpus": 384},
        {"desiredvCpus": 192},
        {"scalingPolicy": {"minScaleDownDelayMinutes": 20}},
    ],
)
def test_an_environment_of_any_strategy_is_scaled(local_aws: LocalAws, scaling: dict[str, Any]) -> None:
    # https://docs.aws.amazon.com/batch/latest/userguide/scaling-updates.html
    assert scaling.items() <= changed(managed(local_aws), **scaling).items()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"instanceTypes": ["trn1.32xlarge"]}, "instanceTypes"),
        ({"maxvCpus": 384, "ec2KeyPair": "mine"}, "ec2KeyPair"),
        ({"tags": {"a": "b"}, "ec2KeyPair": "mine"}, "ec2KeyPair, tags"),
        ({"updateToLatestImageVersion": True}, "updateToLatestImageVersion"),
    ],
)
def test_what_needs_new_instances_needs_a_progressive_strategy(
    local_aws: LocalAws, given: dict[str, Any], named: str
) -> None:
    # https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html
    best_fit = managed(local_aws)
    message = refusal(
        best_fit.update_compute_environment, computeEnvironment="nodes", computeResources=given
    )[1]
    assert f"{named} can be updated for CE only with Allocation Strategy" in message
    local_aws.reset()
    progressive = managed(local_aws, allocationStrategy="BEST_FIT_PROGRESSIVE")

    shown = changed(progressive, **given)
    kept = {key: value for key, value in given.items() if key != "updateToLatestImageVersion"}
    assert kept.items() <= shown.items()


def test_an_unchanged_setting_needs_no_new_instances(local_aws: LocalAws) -> None:
    assert changed(managed(local_aws), instanceTypes=["trn2.48xlarge"], maxvCpus=384)["maxvCpus"] == 384
