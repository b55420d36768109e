"""Resources that are described once more after their deletion, and gone for everything else."""

from datetime import timedelta
from typing import Any

import pytest

from ultracluster_local import LocalAws
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.services.leaving import Leaving

pytestmark = pytest.mark.slow

TEMPLATE = """
Resources:
  Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}
  Subnet: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.0.0/24}}
  Data:
    Type: AWS::FSx::FileSystem
    Properties: {FileSystemType: LUSTRE, StorageCapacity: 1200, SubnetIds: [!Ref Subnet]}
  Nodes: {Type: AWS::Batch::ComputeEnvironment, Properties: {Type: UNMANAGED}}
  Queue:
    Type: AWS::Batch::JobQueue
    Properties: {Priority: 1, ComputeEnvironmentOrder: [{Order: 1, ComputeEnvironment: !Ref Nodes}]}
"""


@pytest.mark.parametrize(("later", "shown"), [(59, [{"name": "one"}]), (60, [])])
def test_what_was_deleted_is_described_once_within_a_minute(
    local_aws: LocalAws, later: int, shown: list[dict[str, str]]
) -> None:
    local_aws.clock.set(CLOCK.now())
    leaving = Leaving()
    leaving.add({"name": "one"})

    assert leaving.take(lambda one: one["name"] == "other") == []
    local_aws.clock.advance(timedelta(seconds=later))

    assert [leaving.take(lambda _: True) for _ in range(2)] == [shown, []]


def test_cloudformation_deletes_until_nothing_is_described(local_aws: LocalAws) -> None:
    local_aws.clock.set(CLOCK.now())
    stacks = local_aws.client("cloudformation")
    made = stacks.create_stack(StackName="one", TemplateBody=TEMPLATE)["StackId"]
    assert local_aws.client("fsx").describe_file_systems()["FileSystems"]
    stacks.delete_stack(StackName="one")

    assert stacks.describe_stacks(StackName=made)["Stacks"][0]["StackStatus"] == "DELETE_COMPLETE"
    assert local_aws.client("fsx").describe_file_systems()["FileSystems"] == []
    batch: Any = local_aws.client("batch")
    assert batch.describe_job_queues()["jobQueues"] == []
    assert batch.describe_compute_environments()["computeEnvironments"] == []
