"""Launch templates that a group cannot use."""

from typing import Any

import pytest
from tests.refusals import refusal

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
        self.image = self.ec2.describe_images(
            Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
        )["Images"][0]["ImageId"]

    def asked(self, *, zones: int = 1, **data: Any) -> dict[str, Any]:
        data = {"ImageId": self.image, "InstanceType": "c5.large"} | data
        made = self.ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
        template = {"LaunchTemplateId": made["LaunchTemplate"]["LaunchTemplateId"], "Version": "$Latest"}
        return GROUP | {"LaunchTemplate": template, "VPCZoneIdentifier": ",".join(self.subnets[:zones])}


@pytest.fixture
def scaling(local_aws: LocalAws) -> Scaling:
    return Scaling(local_aws)


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


def test_groups_of_another_network_are_refused(scaling: Scaling) -> None:
    other = scaling.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    group = scaling.ec2.create_security_group(GroupName="x", Description="x", VpcId=other)["GroupId"]

    said = refusal(scaling.groups.create_auto_scaling_group, **scaling.asked(SecurityGroupIds=[group]))
    assert "not linked to the VPCs" in said[1]


def test_a_group_of_a_zone_launches_into_its_default_subnet(scaling: Scaling) -> None:
    given = scaling.asked() | {"MinSize": 1, "AvailabilityZones": ["us-east-1b"]}
    del given["VPCZoneIdentifier"]
    scaling.groups.create_auto_scaling_group(**given)

    (group,) = scaling.groups.describe_auto_scaling_groups()["AutoScalingGroups"]
    assert [one["AvailabilityZone"] for one in group["Instances"]] == ["us-east-1b"]


def test_a_group_cannot_use_a_template_with_an_empty_security_group(scaling: Scaling) -> None:
    said = refusal(scaling.groups.create_auto_scaling_group, **scaling.asked(SecurityGroupIds=[""]))

    assert said[1].endswith("Value () for parameter groupId is invalid. The value cannot be empty")
