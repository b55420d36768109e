"""Nodes and multi-node tasks reach S3 Files."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import ZONE, network, of_type, only

from ultracluster import ClusterNetwork, S3FilesMountTarget
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

ARN = "arn:aws:s3files:us-east-2:123456789012:file-system/fs-0123456789abcdef0"


def rules(stack: cdk.Stack, kind: str) -> list[dict[str, Any]]:
    """Give the rules for NFS."""
    found = [each["Properties"] for each in of_type(stack, f"AWS::EC2::SecurityGroup{kind}")]
    return [each for each in found if each.get("FromPort") == 2049]


def test_a_new_mount_target_admits_nfs_of_the_nodes_and_of_tasks(stack: cdk.Stack) -> None:
    S3FilesMountTarget(stack, "Files", network=network(stack), file_system_arn=ARN)

    target = only(stack, "AWS::S3Files::MountTarget")
    (group,) = target["SecurityGroups"]
    assert target["FileSystemId"] == "fs-0123456789abcdef0"
    assert [rule["GroupId"] for rule in rules(stack, "Ingress")] == [group, group]
    senders = [rule["SourceSecurityGroupId"] for rule in rules(stack, "Ingress")]
    assert [rule["GroupId"] for rule in rules(stack, "Egress")] == senders
    assert ["DefaultSecurityGroup" in str(sender) for sender in senders] == [False, True]


def test_an_existing_mount_target_only_gets_rules(stack: cdk.Stack) -> None:
    theirs = ec2.SecurityGroup.from_security_group_id(stack, "Theirs", "sg-0123456789abcdef0")
    S3FilesMountTarget(stack, "Files", network=network(stack), file_system_arn=ARN, security_group=theirs)

    assert of_type(stack, "AWS::S3Files::MountTarget") == []
    assert {rule["GroupId"] for rule in rules(stack, "Ingress")} == {"sg-0123456789abcdef0"}


def test_a_default_group_that_is_not_known_gets_no_rules(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2c"]
    )
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    existing = ClusterNetwork.from_subnet(
        stack, "Network", vpc=vpc, subnet=subnet, zone_id=ZONE, instance_type="trn2.48xlarge", node_count=2
    )
    S3FilesMountTarget(stack, "Files", network=existing, file_system_arn=ARN)

    assert len(rules(stack, "Ingress")) == 1


def test_an_access_point_has_no_mount_target(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC6157"):
        S3FilesMountTarget(
            stack,
            "Files",
            network=network(stack),
            file_system_arn=f"{ARN}/access-point/fsap-0123456789abcdef0",
        )
