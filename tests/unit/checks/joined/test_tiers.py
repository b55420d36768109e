"""Queues of several environments, reservations, and jobs that their nodes cannot hold."""

from typing import Any

import pytest
from tests.unit.checks.joined.whole_cluster import codes_after

CE = "ComputeEnvironment/ComputeResources"
JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
LT = "LaunchTemplate/LaunchTemplateData"
SECOND = {"Order": 2, "ComputeEnvironment": {"Ref": "Second"}}


def second(**properties: Any) -> dict[str, Any]:
    return {
        "/Resources/Second": {
            "Type": "AWS::Batch::ComputeEnvironment",
            "Properties": {"Type": "MANAGED", **properties},
        },
        "JobQueue/ComputeEnvironmentOrder/+": SECOND,
    }


BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6308", "Cluster", second(Type="UNMANAGED")),
    ("UC6418", "Cluster", {"JobQueue/JobQueueType": "ECS_FARGATE"}),
    ("UC4224", "Cluster", {f"{CE}/Ec2Configuration/0/ImageType": "ECS_AL2"}),
    ("UC4215", "Cluster", {f"{CE}/InstanceTypes": ["c7g.4xlarge", "c7i.4xlarge"]}),
    ("UC6407", "Cluster", {f"{CE}/InstanceTypes": ["c7i.4xlarge"], f"{JOB}/InstanceType": "c7i.4xlarge"}),
    ("UC6415", "Cluster", {f"{CE}/InstanceTypes": ["trn2.48xlarge", "c7i.2xlarge"]}),
    ("UC6419", "Cluster", {f"{JOB}/LogConfiguration/Options/awslogs-region": "us-west-2"}),
    ("UC6417", "Cluster", {f"{LT}/UserData": {"Fn::Base64": "mount -t lustre x@tcp:/y /mnt/lustre"}}),
    ("UC5007", "Storage", {"FileSystem/KmsKeyId": "arn:aws:kms:eu-west-1:123456789012:key/1"}),
    ("UC4223", "Cluster", {"/Parameters/Reserved": {"Type": "String", "Default": "cr-0fedcba9876543210"}}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


def test_a_log_group_in_its_region_has_no_finding() -> None:
    assert (
        codes_after("Cluster", {f"{JOB}/LogConfiguration/Options/awslogs-group": {"Fn::ImportValue": "logs"}})
        == []
    )
