"""Auto Scaling groups of templates."""

from typing import Any

import pytest

pytestmark = pytest.mark.slow


def template(desired: str | None = "0", *, image: str = "ami-03cf127a", **settings: Any) -> dict[str, Any]:
    """Return a group of at most two nodes of a block that is not there."""
    data = {
        "ImageId": image,
        "InstanceType": "trn2.48xlarge",
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
    }
    sizes = {"MinSize": "0", "MaxSize": "2", **({} if desired is None else {"DesiredCapacity": desired})}
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.1.0/24"},
            },
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
            "Group": {
                "Type": "AWS::AutoScaling::AutoScalingGroup",
                "Properties": {
                    **sizes,
                    "LaunchTemplate": {
                        "LaunchTemplateId": {"Ref": "Template"},
                        "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
                    },
                    "VPCZoneIdentifier": [{"Ref": "Subnet"}],
                    **settings,
                },
            },
        },
        "Outputs": {"Group": {"Value": {"Ref": "Group"}}},
    }


def group(stacks: Any) -> dict[str, Any]:
    client = stacks.local.client("autoscaling")
    (found,) = client.describe_auto_scaling_groups()["AutoScalingGroups"]
    return dict(found)


def test_group_whose_instances_do_not_start_rolls_the_stack_back(stacks: Any) -> None:
    assert stacks.create("one", template("1")) == "ROLLBACK_COMPLETE"
    events = stacks.api.describe_stack_events(StackName="one")["StackEvents"]
    said = [one.get("ResourceStatusReason", "") for one in events if one["LogicalResourceId"] == "Group"]
    assert any("Group did not stabilize. Last scaling activity: " in reason for reason in said)
    assert stacks.local.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"] == []


def test_new_launch_template_version_sets_the_sizes_of_the_template_again(stacks: Any) -> None:
    assert stacks.create("one", template()) == "CREATE_COMPLETE"
    client = stacks.local.client("autoscaling")
    client.update_auto_scaling_group(AutoScalingGroupName=group(stacks)["AutoScalingGroupName"], MaxSize=0)
    assert stacks.update("one", template(image="ami-12c6146b")) == "UPDATE_COMPLETE"
    assert (group(stacks)["LaunchTemplate"]["Version"], group(stacks)["MaxSize"]) == ("2", 2)


def without_block(stacks: Any, **settings: Any) -> dict[str, Any]:
    found = template(None, **settings)
    data = found["Resources"]["Template"]["Properties"]["LaunchTemplateData"]
    del data["InstanceMarketOptions"]
    data["ImageId"] = stacks.local.client("ec2").describe_images(
        Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
    )["Images"][0]["ImageId"]
    return found


def test_group_with_protected_instances_is_not_deleted(stacks: Any) -> None:
    client = stacks.local.client("autoscaling")
    assert (
        stacks.create("one", without_block(stacks, NewInstancesProtectedFromScaleIn=True))
        == "CREATE_COMPLETE"
    )
    name = group(stacks)["AutoScalingGroupName"]
    client.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=1)
    (node,) = group(stacks)["Instances"]

    assert stacks.delete("one") == "DELETE_FAILED"
    assert (
        client.describe_scaling_activities(AutoScalingGroupName=name)["Activities"][0]["StatusCode"]
        == "Cancelled"
    )

    client.set_instance_protection(
        AutoScalingGroupName=name, InstanceIds=[node["InstanceId"]], ProtectedFromScaleIn=False
    )
    assert stacks.delete("one") == "DELETE_COMPLETE", stacks.reasons("one")


def test_desired_capacity_that_no_template_names_stays(stacks: Any) -> None:
    grown = without_block(stacks)
    assert stacks.create("one", grown) == "CREATE_COMPLETE"
    client = stacks.local.client("autoscaling")
    client.set_desired_capacity(AutoScalingGroupName=group(stacks)["AutoScalingGroupName"], DesiredCapacity=1)
    grown["Resources"]["Group"]["Properties"]["HealthCheckGracePeriod"] = 60
    assert stacks.update("one", grown) == "UPDATE_COMPLETE", stacks.reasons("one")
    assert (group(stacks)["DesiredCapacity"], len(group(stacks)["Instances"])) == (1, 1)
    assert stacks.delete("one") == "DELETE_COMPLETE", stacks.reasons("one")
