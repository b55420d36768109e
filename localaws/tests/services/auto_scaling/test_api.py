"""What Amazon EC2 Auto Scaling refuses."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.events.event_rules import REGION
from tests.services.auto_scaling.groups_of_nodes import (
    GROUP,
    create,
    nodes,
    shown,
    subnet,
    template,
)
from tests.services.ec2.blocks_and_instances import START

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

HOOK = {"LifecycleHookName": "drain", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"LaunchTemplate": None},
            "either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy",
        ),
        ({"VPCZoneIdentifier": None}, "At least one Availability Zone or VPC Subnet is required"),
        (
            {"VPCZoneIdentifier": "subnet-0123456789abcdef0"},
            "The subnet ID 'subnet-0123456789abcdef0' does not exist",
        ),
        (
            {"DesiredCapacity": 5},
            "Desired capacity:5 must be between the specified min size:0 and max size:4",
        ),
        ({"LaunchTemplate": {"Version": "1"}}, "either launchTemplateId or LaunchTemplateName"),
        (
            {"VPCZoneIdentifier": None, "AvailabilityZones": ["us-east-1z"]},
            "No default VPC for this user",
        ),
        (
            {"LaunchTemplate": {"LaunchTemplateId": "lt-0123456789abcdef0"}},
            "You must use a valid fully-formed launch template",
        ),
        (
            {"LifecycleHookSpecificationList": [HOOK]},
            "The local AWS does not simulate lifecycle hooks: LifecycleHookSpecificationList",
        ),
    ],
)
def test_invalid_group_is_refused(local: LocalAws, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message) as caught:
        create(local, **changes)
    assert code(caught) == "ValidationError"


def test_mixed_instances_with_the_market_of_a_block_are_refused(local: LocalAws) -> None:
    policy = {
        "LaunchTemplate": {
            "LaunchTemplateSpecification": {"LaunchTemplateId": template(local), "Version": "1"}
        }
    }
    client = local.client("autoscaling", REGION)
    with pytest.raises(ClientError, match="Incompatible launch template"):
        client.create_auto_scaling_group(
            AutoScalingGroupName=GROUP,
            MinSize=0,
            MaxSize=1,
            VPCZoneIdentifier=subnet(local),
            MixedInstancesPolicy=policy,
        )


def test_second_group_of_a_name_is_refused(local: LocalAws) -> None:
    used = template(local)
    create(local, used)
    with pytest.raises(ClientError, match="already exists") as caught:
        create(local, used)
    assert code(caught) == "AlreadyExists"


@pytest.mark.parametrize(("desired", "message"), [(5, "above max value 4"), (0, "below min value 1")])
def test_desired_capacity_out_of_bounds_is_refused(local: LocalAws, desired: int, message: str) -> None:
    client = create(local, template(local, market={}), MinSize=1)
    with pytest.raises(ClientError, match=message):
        client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=desired)


def test_new_bounds_move_the_desired_capacity(local: LocalAws) -> None:
    client = create(local)
    local.clock.set(START)
    client.update_auto_scaling_group(AutoScalingGroupName=GROUP, MinSize=2)
    assert len(nodes(client)) == 2
    client.update_auto_scaling_group(AutoScalingGroupName=GROUP, MinSize=0, MaxSize=0)
    assert shown(client)["DesiredCapacity"] == 0
    assert nodes(client) == []


def test_group_with_instances_is_deleted_by_force_only(local: LocalAws) -> None:
    client = create(local, template(local, market={}), DesiredCapacity=1)
    with pytest.raises(
        ClientError, match="You cannot delete an AutoScalingGroup while there are instances"
    ) as caught:
        client.delete_auto_scaling_group(AutoScalingGroupName=GROUP)
    assert code(caught) == "ResourceInUse"
    (node,) = nodes(client)
    client.delete_auto_scaling_group(AutoScalingGroupName=GROUP, ForceDelete=True)
    assert client.describe_auto_scaling_groups()["AutoScalingGroups"] == []
    answer = local.client("ec2", REGION).describe_instances(InstanceIds=[node])
    assert answer["Reservations"][0]["Instances"][0]["State"]["Name"] == "terminated"


def test_minimum_keeps_an_instance_from_leaving_without_a_replacement(local: LocalAws) -> None:
    client = create(local, template(local, market={}), MinSize=1)
    with pytest.raises(ClientError, match="desiredSize equals minSize"):
        client.terminate_instance_in_auto_scaling_group(
            InstanceId=nodes(client)[0], ShouldDecrementDesiredCapacity=True
        )


def test_unknown_instances_and_groups_are_refused(local: LocalAws) -> None:
    client = create(local)
    with pytest.raises(ClientError, match="is not part of Auto Scaling group"):
        client.set_instance_protection(
            AutoScalingGroupName=GROUP, InstanceIds=["i-0123456789abcdef0"], ProtectedFromScaleIn=False
        )
    with pytest.raises(ClientError, match="AutoScalingGroup name not found"):
        client.set_desired_capacity(AutoScalingGroupName="other", DesiredCapacity=0)
    with pytest.raises(ClientError, match="No managed instance found"):
        client.set_instance_health(InstanceId="i-0123456789abcdef0", HealthStatus="Unhealthy")


def test_more_than_fifty_instances_are_not_protected_at_once(local: LocalAws) -> None:
    client = create(local)
    with pytest.raises(ClientError, match="up to 50 instances"):
        client.set_instance_protection(
            AutoScalingGroupName=GROUP,
            InstanceIds=[f"i-{number:017x}" for number in range(51)],
            ProtectedFromScaleIn=False,
        )


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("auto-scaling-group", GROUP, ["cluster", "node"]),
        ("auto-scaling-group", "other", []),
        ("key", "node", ["node"]),
        ("value", "december", ["cluster"]),
        ("propagate-at-launch", "true", ["node"]),
    ],
)
def test_tags_are_found_by_what_they_say(local: LocalAws, name: str, value: str, found: list[str]) -> None:
    tags = [
        {"Key": "cluster", "Value": "december", "PropagateAtLaunch": False},
        {"Key": "node", "Value": "trn2", "PropagateAtLaunch": True},
    ]
    client = create(local, Tags=tags)

    shown_tags = client.describe_tags(Filters=[{"Name": name, "Values": [value]}])["Tags"]

    assert [one["Key"] for one in shown_tags] == found


def test_tags_are_listed_by_page_and_by_known_filters_only(local: LocalAws) -> None:
    client = create(local, Tags=[{"Key": "cluster"}, {"Key": "node"}])

    first = client.describe_tags(MaxRecords=1)
    second = client.describe_tags(MaxRecords=1, NextToken=first["NextToken"])

    assert [one["Key"] for one in first["Tags"] + second["Tags"]] == ["cluster", "node"]
    with pytest.raises(ClientError, match="Filter type tag-key is not correct"):
        client.describe_tags(Filters=[{"Name": "tag-key", "Values": ["node"]}])
