"""What EC2 refuses to launch."""

import base64
from typing import Any

import pytest
from tests.refusals import refusal, said
from tests.services.ec2.capacity_calls import REGION

from ultracluster_local.services.ec2.launches import check_launch
from ultracluster_local.services.handlers import Request

pytestmark = pytest.mark.slow

ONE = {"MinCount": 1, "MaxCount": 1, "InstanceType": "trn2.48xlarge", "ImageId": "resolve:ssm:image"}


def launched(**given: Any) -> str:
    return said(check_launch, Request(operation="RunInstances", parameters={}, region=REGION), ONE | given)


def cards(count: int, kind: str = "efa-only") -> list[dict[str, Any]]:
    first = {"NetworkCardIndex": 0, "DeviceIndex": 0, "InterfaceType": "interface"}
    return [
        first,
        *({"NetworkCardIndex": card, "DeviceIndex": 1, "InterfaceType": kind} for card in range(1, count)),
    ]


@pytest.mark.usefixtures("ec2")
def test_sixteen_efa_interfaces_of_a_trainium_instance_are_taken() -> None:
    first = {"NetworkCardIndex": 0, "DeviceIndex": 0, "InterfaceType": "efa"}

    assert launched(NetworkInterfaces=[first, *cards(16)[1:]]) == ""
    assert launched() == ""


@pytest.mark.usefixtures("ec2")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"MinCount": 2}, "Must not be lower than MinCount (2)"),
        ({"InstanceType": "trn2.47xlarge"}, "Invalid value 'trn2.47xlarge' for InstanceType."),
        ({"UserData": "not base64!"}, "InvalidUserData.Malformed"),
        ({"UserData": base64.b64encode(b"x" * 16_385).decode()}, "User data is limited to 16384 bytes"),
    ],
)
def test_counts_types_and_user_data_are_within_limits(given: dict[str, Any], words: str) -> None:
    assert words in launched(**given)


@pytest.mark.usefixtures("ec2")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"NetworkInterfaces": cards(2), "SecurityGroupIds": ["sg-1"]}, "may not be specified on the same request"),
        ({"NetworkInterfaces": [cards(1)[0] | {"AssociatePublicIpAddress": True}, *cards(2)[1:]]}, "multiple network interfaces"),
        ({"NetworkInterfaces": cards(2)[1:]}, "you must include a device at index 0"),
        ({"NetworkInterfaces": [cards(1)[0]] * 2}, "requires a unique device index"),
        ({"NetworkInterfaces": [*cards(1), {"NetworkCardIndex": 16, "DeviceIndex": 1}]}, "Network card index 16 is not supported"),
        ({"NetworkInterfaces": cards(2, "trunk")}, "Invalid value 'trunk' for InterfaceType."),
        ({"NetworkInterfaces": [cards(1)[0] | {"InterfaceType": "efa-only"}]}, "cannot be the primary network interface"),
        ({"NetworkInterfaces": [*cards(2), {"NetworkCardIndex": 1, "DeviceIndex": 2, "InterfaceType": "efa"}]}, "more than 1 EFA on a single network card"),
        ({"InstanceType": "p6-b300.48xlarge", "NetworkInterfaces": [cards(1)[0] | {"InterfaceType": "efa"}]}, "Network card 0 of p6-b300.48xlarge does not support"),
        ({"InstanceType": "t3.micro", "NetworkInterfaces": [cards(1)[0] | {"InterfaceType": "efa"}]}, "t3.micro instances do not support Elastic Fabric Adapters."),
        ({"InstanceType": "t3.micro", "NetworkInterfaces": [{"DeviceIndex": index} for index in range(3)]}, "AttachmentLimitExceeded: Interface count 3"),
    ],
)  # fmt: skip
def test_interfaces_fit_the_cards_of_the_instance(given: dict[str, Any], words: str) -> None:
    assert words in launched(**given)


def test_groups_are_in_the_network_of_the_subnet(ec2: Any) -> None:
    subnet = ec2.describe_subnets()["Subnets"][0]
    other = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    near, far = (
        ec2.create_security_group(GroupName="g", Description="g", VpcId=vpc)["GroupId"]
        for vpc in (subnet["VpcId"], other)
    )

    assert "belong to different networks" in launched(SubnetId=subnet["SubnetId"], SecurityGroupIds=[far])
    assert launched(SubnetId=subnet["SubnetId"], SecurityGroupIds=[near]) == ""


def test_interfaces_of_an_instance_are_in_one_zone(ec2: Any) -> None:
    by_zone = {one["AvailabilityZone"]: one["SubnetId"] for one in ec2.describe_subnets()["Subnets"]}
    interfaces = [one | {"SubnetId": subnet} for one, subnet in zip(cards(2), by_zone.values(), strict=False)]

    assert "must be in the same Availability Zone" in launched(NetworkInterfaces=interfaces)


def test_a_placement_group_exists_and_takes_the_type(ec2: Any) -> None:
    assert "InvalidPlacementGroup.Unknown" in launched(Placement={"GroupName": "nodes"})
    ec2.create_placement_group(GroupName="nodes", Strategy="cluster")

    assert launched(Placement={"GroupName": "nodes"}) == ""
    assert "Cluster placement groups are not supported by the 't3.micro' instance type" in launched(
        InstanceType="t3.micro", Placement={"GroupName": "nodes"}
    )


@pytest.mark.usefixtures("ec2")
@pytest.mark.parametrize(
    ("volume", "words"),
    [
        ({"VolumeType": "gp3", "Iops": 3000, "Throughput": 125}, ""),
        ({"VolumeType": "io2", "Iops": 100}, ""),
        ({"VolumeType": "io2"}, "MissingParameter: The parameter iops must be specified for io2 volumes."),
        ({"Iops": 3000}, "iops is not supported for gp2 volumes."),
        (
            {"VolumeType": "io1", "Iops": 100, "Throughput": 125},
            "throughput is not supported for io1 volumes.",
        ),
        ({"KmsKeyId": "key"}, "KmsKeyId requires the parameter Encrypted"),
    ],
)
def test_settings_of_a_volume_fit_its_type(volume: dict[str, Any], words: str) -> None:
    found = launched(BlockDeviceMappings=[{"DeviceName": "/dev/sda1", "Ebs": volume}])

    assert words in found
    assert bool(words) == bool(found)


def test_a_cluster_placement_group_in_use_takes_instances_of_its_zone_only(ec2: Any) -> None:
    near, far, *_ = sorted(ec2.describe_subnets()["Subnets"], key=lambda one: one["AvailabilityZone"])
    for strategy in ("cluster", "spread"):
        ec2.create_placement_group(GroupName=strategy, Strategy=strategy)
        given = {"InstanceType": "c5.large", "Placement": {"GroupName": strategy}}
        made = ec2.run_instances(**ONE | given, SubnetId=near["SubnetId"])["Instances"][0]
        assert made["Placement"]["GroupName"] == strategy

    cluster = {"InstanceType": "c5.large", "Placement": {"GroupName": "cluster"}}
    assert launched(**cluster, SubnetId=near["SubnetId"]) == ""
    assert launched(**cluster) == ""
    assert launched(**cluster, SubnetId=far["SubnetId"]) == (
        "InvalidPlacementGroup.InUse: The placement group 'cluster' is in use in another availability zone: "
        f"{near['AvailabilityZone']}"
    )
    assert launched(**cluster | {"Placement": {"GroupName": "spread"}}, SubnetId=far["SubnetId"]) == ""
    assert refusal(ec2.delete_placement_group, GroupName="cluster") == (
        "InvalidPlacementGroup.InUse",
        "The placement group 'cluster' is in use and may not be deleted.",
    )
