"""Auto Scaling groups with launch templates of the local AWS."""

from typing import Any

import pytest
from tests.unit.local.refusals import refusal

from ultracluster_local import LocalAws

GROUP: dict[str, Any] = {"AutoScalingGroupName": "nodes", "MinSize": 0, "MaxSize": 2}


class Scaling:
    """A network in two zones, and groups in it."""

    def __init__(self, local: LocalAws) -> None:
        self.ec2, self.groups = local.client("ec2"), local.client("autoscaling")
        self.vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        self.subnets = [
            self.ec2.create_subnet(
                VpcId=self.vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"us-east-1{zone}"
            )["Subnet"]["SubnetId"]
            for n, zone in enumerate("ab")
        ]
        self.image = self.ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]

    def asked(self, *, zones: int = 1, **data: Any) -> dict[str, Any]:
        data = {"ImageId": self.image, "InstanceType": "c5.large"} | data
        made = self.ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
        template = {"LaunchTemplateId": made["LaunchTemplate"]["LaunchTemplateId"], "Version": "$Latest"}
        return GROUP | {"LaunchTemplate": template, "VPCZoneIdentifier": ",".join(self.subnets[:zones])}


@pytest.fixture
def scaling(local_aws: LocalAws) -> Scaling:
    return Scaling(local_aws)


def test_a_group_launches_the_instances_of_its_template(scaling: Scaling) -> None:
    scaling.groups.create_auto_scaling_group(
        **scaling.asked(InstanceType="c5.xlarge") | {"DesiredCapacity": 2}
    )
    (group,) = scaling.groups.describe_auto_scaling_groups()["AutoScalingGroups"]

    assert [one["InstanceType"] for one in group["Instances"]] == ["c5.xlarge"] * 2
    assert (
        refusal(scaling.groups.delete_auto_scaling_group, AutoScalingGroupName="nodes")[0] == "ResourceInUse"
    )
    assert refusal(scaling.groups.create_auto_scaling_group, **GROUP)[0] == "AlreadyExists"
    scaling.groups.delete_auto_scaling_group(AutoScalingGroupName="nodes", ForceDelete=True)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"MinSize": 3}, "Max bound, 2, must be greater than or equal to min bound, 3"),
        (
            {"DesiredCapacity": 3},
            "Desired capacity:3 must be between the specified min size:0 and max size:2",
        ),
    ],
)
def test_sizes_of_a_group_agree(scaling: Scaling, sizes: dict[str, int], words: str) -> None:
    asked = scaling.asked()

    assert words in refusal(scaling.groups.create_auto_scaling_group, **asked | sizes)[1]
    scaling.groups.create_auto_scaling_group(**asked)
    assert (
        words in refusal(scaling.groups.update_auto_scaling_group, AutoScalingGroupName="nodes", **sizes)[1]
    )


BLOCK = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}


@pytest.mark.parametrize(
    ("data", "zones", "words"),
    [
        (BLOCK, 2, "must be in the Availability Zone of the block only"),
        (BLOCK, 1, ""),
        ({"Placement": {"HostId": "h-1"}}, 1, "Tenancy host ID is not supported"),
        ({"IamInstanceProfile": {"Name": "absent"}}, 1, "Value (absent) for parameter iamInstanceProfile.name"),
        (
            {"SecurityGroupIds": ["sg-1"], "NetworkInterfaces": [{"DeviceIndex": 0}]},
            1,
            "the security groups must be a part of it",
        ),
    ],
)  # fmt: skip
def test_a_template_fits_a_group(scaling: Scaling, data: dict[str, Any], zones: int, words: str) -> None:
    asked = scaling.asked(zones=zones, **data)
    if words:
        assert words in refusal(scaling.groups.create_auto_scaling_group, **asked)[1]
    else:
        scaling.groups.create_auto_scaling_group(**asked)


@pytest.mark.parametrize("market", ["spot", "capacity-block"])
def test_a_mixed_group_takes_no_template_with_a_market(scaling: Scaling, market: str) -> None:
    asked = scaling.asked(InstanceMarketOptions={"MarketType": market})
    mixed = {"LaunchTemplate": {"LaunchTemplateSpecification": asked.pop("LaunchTemplate")}}

    said = refusal(scaling.groups.create_auto_scaling_group, MixedInstancesPolicy=mixed, **asked)
    assert said[1].startswith("Incompatible launch template: You cannot use a launch template")


def test_groups_of_another_network_are_refused(scaling: Scaling) -> None:
    other = scaling.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    group = scaling.ec2.create_security_group(GroupName="x", Description="x", VpcId=other)["GroupId"]

    said = refusal(scaling.groups.create_auto_scaling_group, **scaling.asked(SecurityGroupIds=[group]))
    assert "not linked to the VPCs" in said[1]
