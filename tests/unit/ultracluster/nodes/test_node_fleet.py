"""Nodes that an Auto Scaling group starts in a Capacity Block, and that join the cluster of an unmanaged environment."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import (
    IMAGE_ID,
    REGION,
    RESERVATION,
    ZONE,
    block,
    network,
    of_type,
    only,
    unpacked,
)

import ultracluster as uc
from ultracluster.nodes.node_fleet import NodeFleet
from ultracluster.scheduling.unmanaged_environment import UnmanagedEnvironment

pytestmark = pytest.mark.slow


def fleet(stack: cdk.Stack, **changes: Any) -> NodeFleet:
    environment = UnmanagedEnvironment(stack, "Environment", max_vcpus=4 * 192)
    nodes = uc.NodeGroup(
        stack,
        "Nodes",
        **{
            "network": network(stack),
            "instance_type": "trn2.48xlarge",
            "image_id": IMAGE_ID,
            "capacity": block(),
            "joins": environment.cluster,
        }
        | changes,
    )
    return NodeFleet(stack, "Fleet", nodes=nodes, max_nodes=4)


def template_data(stack: cdk.Stack) -> dict[str, Any]:
    found: dict[str, Any] = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    return found


def test_group_has_one_type_a_pinned_version_one_subnet_and_no_nodes_yet(stack: cdk.Stack) -> None:
    fleet(stack)
    group = only(stack, "AWS::AutoScaling::AutoScalingGroup")
    assert group["LaunchTemplate"]["Version"]["Fn::GetAtt"][1] == "LatestVersionNumber"
    assert len(group["VPCZoneIdentifier"]) == 1
    assert (group["MinSize"], group["MaxSize"]) == ("0", "4")
    # A deployment in the middle of a block must not set it back.
    assert not {"DesiredCapacity", "MixedInstancesPolicy"} & group.keys()
    assert group["NewInstancesProtectedFromScaleIn"] is True
    assert group["CapacityRebalance"] is False
    (resource,) = of_type(stack, "AWS::AutoScaling::AutoScalingGroup")
    assert resource["UpdatePolicy"]["AutoScalingScheduledAction"] == {
        "IgnoreUnmodifiedGroupSizeProperties": True
    }


def test_permissions_size_this_group_and_no_other(stack: cdk.Stack) -> None:
    made = fleet(stack)
    read, size = (stack.resolve(each.to_statement_json()) for each in made.size_statements())
    # Service Authorization Reference, Amazon EC2 Auto Scaling: reading has no resource types.
    assert (read["Action"], read["Resource"]) == ("autoscaling:DescribeAutoScalingGroups", "*")
    assert set(size["Action"]) == {"autoscaling:SetDesiredCapacity", "autoscaling:SetInstanceProtection"}
    parts = size["Resource"]["Fn::Join"][1]
    assert parts[-2:] == [
        ":autoScalingGroup:*:autoScalingGroupName/",
        stack.resolve(made.auto_scaling_group_name),
    ]


def test_nodes_are_told_their_cluster_before_the_agent_starts(stack: cdk.Stack) -> None:
    fleet(stack)
    joined = template_data(stack)["UserData"]["Fn::Base64"]["Fn::Join"][1]
    told = next(
        index
        for index, part in enumerate(joined)
        if isinstance(part, dict) and part.get("Fn::GetAtt", [""])[-1] == "Arn"
    )
    assert joined[told - 1].endswith("export UC_ECS_CLUSTER='")
    text = unpacked("".join(part if isinstance(part, str) else "X" for part in joined))
    assert "ECS_CLUSTER=%s" in text
    assert text.index("ECS_AWSVPC_BLOCK_IMDS") < text.index("ECS_CLUSTER=%s") < text.index('say "ready"')


def test_nodes_that_aws_batch_starts_name_neither_profile_nor_cluster(stack: cdk.Stack) -> None:
    fleet(stack, joins=None)
    assert "IamInstanceProfile" not in template_data(stack)
    assert "UC_ECS_CLUSTER" not in json.dumps(template_data(stack))


@pytest.mark.parametrize(
    "capacity",
    [
        uc.CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE, launched_by="auto-scaling"),
        uc.ReservationGroup(
            resource_group_arn=f"arn:aws:resource-groups:{REGION}:123456789012:group/nodes",
            zone_id=ZONE,
            launched_by="auto-scaling",
        ),
        uc.OnDemand(launched_by="auto-scaling"),
        uc.Spot(launched_by="auto-scaling"),
    ],
    ids=lambda capacity: type(capacity).__name__,
)
def test_no_deployment_starts_or_waits_for_nodes(stack: cdk.Stack, capacity: uc.Capacity) -> None:
    fleet(stack, capacity=capacity)
    assert "DesiredCapacity" not in only(stack, "AWS::AutoScaling::AutoScalingGroup")
