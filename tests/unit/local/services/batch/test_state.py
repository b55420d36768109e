"""Environments and queues that take time to change."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy

MINUTE = timedelta(minutes=1)


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
    with pytest.raises(ClientError, match="VALID state before you can associate"):
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
    stacks.create_stack(StackName="one", TemplateBody=template)
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
