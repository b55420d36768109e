"""Batch resources of a Region: found, changed over time, and failed."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.refusals import said

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.state import (
    batch_of,
    begin_change,
    complete_change,
    find,
    finish_job,
    get,
)

pytestmark = pytest.mark.slow

MINUTE = timedelta(minutes=1)
THINGS = {"arn:1": {"name": "one"}, "arn:2": {"name": "two"}}


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    local_aws.delays.batch = MINUTE
    client = local_aws.client("batch")
    client.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED")
    return client


def status(batch: Any) -> str:
    found = batch.describe_compute_environments(computeEnvironments=["nodes"])["computeEnvironments"]
    return str(found[0]["status"]) if found else "gone"


def test_environment_is_created_updated_and_deleted_in_time(local_aws: LocalAws, batch: Any) -> None:
    seen = [status(batch)]
    local_aws.clock.advance(MINUTE)
    seen.append(status(batch))
    batch.update_compute_environment(computeEnvironment="nodes", state="DISABLED")
    seen.append(status(batch))
    local_aws.clock.advance(MINUTE)
    batch.delete_compute_environment(computeEnvironment="nodes")
    seen.append(status(batch))
    local_aws.clock.advance(MINUTE)
    assert [*seen, status(batch)] == ["CREATING", "VALID", "UPDATING", "DELETING", "gone"]


def test_what_is_being_modified_is_left_alone(batch: Any) -> None:
    with pytest.raises(ClientError, match="Cannot update, resource is being modified"):
        batch.update_compute_environment(computeEnvironment="nodes", state="DISABLED")
    order = [{"order": 1, "computeEnvironment": "nodes"}]
    with pytest.raises(ClientError, match="must be created and valid before attaching"):
        batch.create_job_queue(jobQueueName="queue", priority=1, computeEnvironmentOrder=order)


def test_nothing_takes_time_unless_asked_to(local_aws: LocalAws, batch: Any) -> None:
    local_aws.reset()
    batch.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED")
    assert status(batch) == "VALID"


def test_cloudformation_waits_without_moving_the_clock(local_aws: LocalAws) -> None:
    local_aws.delays.batch = MINUTE
    stacks, before = local_aws.client("cloudformation"), local_aws.clock.now()
    template = """
    Resources:
      Nodes: {Type: AWS::Batch::ComputeEnvironment, Properties: {Type: UNMANAGED}}
      Queue:
        Type: AWS::Batch::JobQueue
        Properties: {Priority: 1, ComputeEnvironmentOrder: [{Order: 1, ComputeEnvironment: !Ref Nodes}]}
    """
    stacks.create_stack(StackName="one", TemplateBody=template, Capabilities=["CAPABILITY_NAMED_IAM"])
    stack = stacks.describe_stacks(StackName="one")["Stacks"][0]
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    stacks.delete_stack(StackName="one")
    assert stacks.describe_stacks(StackName=stack["StackId"])["Stacks"][0]["StackStatus"] == "DELETE_COMPLETE"
    assert local_aws.clock.now() - before < MINUTE


def test_new_role_cannot_be_assumed_at_once_when_iam_takes_time(local_aws: LocalAws) -> None:
    local_aws.delays.iam = MINUTE
    trust = '{"Statement": [{"Effect": "Allow", "Principal": {"Service": "batch.amazonaws.com"}, "Action": "sts:AssumeRole"}]}'
    role = local_aws.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument=trust)["Role"][
        "Arn"
    ]
    client = local_aws.client("batch")
    client.create_compute_environment(computeEnvironmentName="nodes", type="UNMANAGED", serviceRole=role)
    assert status(client) == "INVALID"
    local_aws.clock.advance(MINUTE)
    client.update_compute_environment(computeEnvironment="nodes", unmanagedvCpus=8)
    assert status(client) == "VALID"


def test_a_resource_is_found_by_arn_and_by_name() -> None:
    assert find(THINGS, "name", "arn:2") is find(THINGS, "name", "two") is THINGS["arn:2"]
    assert find(THINGS, "name", "three") is None
    assert get(THINGS, "name", "one") is THINGS["arn:1"]
    assert said(get, THINGS, "name", "three") == "ClientException: three does not exist"


def test_a_deletion_removes_the_resource_when_it_ends(local_aws: LocalAws) -> None:
    local_aws.delays.batch = MINUTE
    batch = batch_of("us-east-1")
    batch.environments["arn"] = {}
    begin_change(batch, "arn", "DELETING", {})
    assert batch.environments["arn"]["status"] == "DELETING"

    complete_change(batch, "arn")
    complete_change(batch, "arn")  # what does not change stays as it is

    assert batch.environments == {}


def test_a_failed_job_has_its_reason_and_time(local_aws: LocalAws) -> None:
    job: dict[str, object] = {"status": "RUNNING"}

    finish_job(job, reason="not wanted")

    assert (job["status"], job["statusReason"]) == ("FAILED", "not wanted")
    assert job["stoppedAt"] == pytest.approx(local_aws.clock.now().timestamp() * 1000, abs=5000)
