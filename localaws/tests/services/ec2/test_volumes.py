"""Volumes of a launch: what fits their type."""

from typing import Any

import pytest
from tests.refusals import refusal, said
from tests.services.ec2.capacity_calls import REGION

from ultracluster_local.services.ec2.volumes import check_volume

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("volume", "code", "words"),
    [
        ({"Size": 1, "VolumeType": "io1"}, "MissingParameter", "iops must be specified"),
        ({"Size": 8, "VolumeType": "gp2", "Iops": 3000}, "InvalidParameterCombination", "not supported"),
        ({"Size": 8, "VolumeType": "gp2", "Throughput": 125}, "InvalidParameterCombination", "throughput"),
        ({"Size": 20, "VolumeType": "gp3", "Iops": 15_000}, "InvalidParameterValue", "ratio of 750.000000"),
        ({"Size": 8, "VolumeType": "gp3", "Iops": 2999}, "InvalidParameterValue", "at least 3000"),
        ({"Size": 8, "VolumeType": "gp3", "Throughput": 2001}, "InvalidParameterValue", "at most 2000"),
        (
            {"Size": 8, "VolumeType": "gp3", "Iops": 3000, "Throughput": 1000},
            "InvalidParameterValue",
            "Throughput (MiBps) to iops",
        ),
        ({"Size": 124, "VolumeType": "st1"}, "InvalidParameterValue", "at least 125"),
        ({"Size": 8, "VolumeType": "gp9"}, "InvalidParameterValue", "gp9"),
        ({"Size": 8, "KmsKeyId": "alias/one"}, "InvalidParameterDependency", "Encrypted"),
    ],
)
def test_settings_that_do_not_fit_the_type_are_refused(volume: dict[str, Any], code: str, words: str) -> None:
    answer = said(check_volume, volume, size=volume["Size"])
    assert answer.startswith(f"{code}: ")
    assert words in answer


@pytest.mark.parametrize(
    "volume",
    [
        {"Size": 1},
        {"Size": 4, "VolumeType": "gp3", "Iops": 3000, "Throughput": 750},  # 3,000 IOPS are free at any size
        {"Size": 30, "VolumeType": "gp3", "Iops": 15_000},
    ],
)
def test_settings_that_fit_are_taken(volume: dict[str, Any]) -> None:
    assert said(check_volume, volume, size=volume["Size"]) == ""


def test_a_root_volume_is_not_smaller_than_the_snapshot_of_its_image(ec2: Any) -> None:
    image = ec2.describe_images(
        Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
    )["Images"][0]
    launch = {"ImageId": image["ImageId"], "InstanceType": "m5.large", "MinCount": 1, "MaxCount": 1}
    mapping = [{"DeviceName": image["RootDeviceName"], "Ebs": {"VolumeSize": 1}}]
    code, words = refusal(ec2.run_instances, **launch, BlockDeviceMappings=mapping)
    assert code == "InvalidBlockDeviceMapping"
    assert "expect size >= 15GB" in words


def test_a_volume_performs_as_its_type_does(ec2: Any) -> None:
    made = [
        ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=100, VolumeType=kind) for kind in ("gp2", "gp3")
    ]

    assert [one["Iops"] for one in made] == [300, 3000]
    assert made[1]["Throughput"] == 125


def test_a_volume_is_in_a_zone_and_has_a_size(ec2: Any) -> None:
    assert refusal(ec2.create_volume, AvailabilityZone=f"{REGION}z", Size=1)[0] == "InvalidZone.NotFound"
    assert refusal(ec2.create_volume, AvailabilityZone=f"{REGION}a") == (
        "MissingParameter",
        "The request must contain the parameter size/snapshot",
    )


def test_a_volume_is_attached_once_to_an_instance_of_its_zone(ec2: Any) -> None:
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    placed = {"InstanceType": "t3.micro", "Placement": {"AvailabilityZone": f"{REGION}a"}}
    launched = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, **placed)["Instances"][0]
    near, also, far = (
        ec2.create_volume(AvailabilityZone=f"{REGION}{zone}", Size=1)["VolumeId"] for zone in "aab"
    )
    to = {"InstanceId": launched["InstanceId"], "Device": "/dev/sdf"}

    assert refusal(ec2.attach_volume, VolumeId=far, **to)[0] == "InvalidVolume.ZoneMismatch"
    ec2.attach_volume(VolumeId=near, **to)
    assert refusal(ec2.attach_volume, VolumeId=near, **to)[0] == "VolumeInUse"
    assert "is already in use" in refusal(ec2.attach_volume, VolumeId=also, **to)[1]
    assert refusal(ec2.delete_volume, VolumeId=near)[0] == "VolumeInUse"
    ec2.detach_volume(VolumeId=near)
    words = f"Volume '{near}' is in the 'available' state."
    assert refusal(ec2.detach_volume, VolumeId=near) == ("IncorrectState", words)
