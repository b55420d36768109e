"""Amazon S3 Files: file systems and mount targets."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

REGION = "us-east-2"


@pytest.fixture
def files(local_aws: LocalAws) -> Any:
    return local_aws.client("s3files", REGION)


def made(files: Any) -> str:
    return str(
        files.create_file_system(
            bucket="arn:aws:s3:::corpus", roleArn="arn:aws:iam::123456789012:role/Files"
        )["fileSystemId"]
    )


def subnet(local_aws: LocalAws, zone: str, vpc: str = "", block: str = "10.0.0.0/24") -> dict[str, str]:
    ec2 = local_aws.client("ec2", REGION)
    vpc = vpc or ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    answer = ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=f"{REGION}{zone}")
    return {"subnet": answer["Subnet"]["SubnetId"], "vpc": vpc}


def test_a_file_system_is_found_by_its_id_and_by_its_arn(files: Any) -> None:
    name = made(files)
    found = files.get_file_system(fileSystemId=name)
    assert (found["status"], found["bucket"]) == ("available", "arn:aws:s3:::corpus")
    assert files.list_mount_targets(fileSystemId=found["fileSystemArn"])["mountTargets"] == []


def test_a_zone_has_one_mount_target_and_all_are_in_one_vpc(local_aws: LocalAws, files: Any) -> None:
    name, first = made(files), subnet(local_aws, "a")
    target = files.create_mount_target(
        fileSystemId=name, subnetId=first["subnet"], securityGroups=["sg-0123456789abcdef0"]
    )
    same_zone = subnet(local_aws, "a", first["vpc"], "10.0.1.0/24")
    for other in (same_zone, subnet(local_aws, "b")):
        with pytest.raises(ClientError, match="ConflictException"):
            files.create_mount_target(fileSystemId=name, subnetId=other["subnet"])
    second = subnet(local_aws, "b", first["vpc"], "10.0.2.0/24")
    files.create_mount_target(fileSystemId=name, subnetId=second["subnet"])
    listed = files.list_mount_targets(fileSystemId=name)["mountTargets"]
    assert [each["subnetId"] for each in listed] == [first["subnet"], second["subnet"]]

    with pytest.raises(ClientError, match="has mount targets"):
        files.delete_file_system(fileSystemId=name)
    for each in listed:
        files.delete_mount_target(mountTargetId=each["mountTargetId"])
    files.delete_file_system(fileSystemId=name)
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        files.list_mount_targets(fileSystemId=name)
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        files.get_mount_target(mountTargetId=target["mountTargetId"])
