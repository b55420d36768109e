"""FSx for Lustre on the local AWS, through boto3: what is kept, what grows, what is refused."""

from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.cloudformation.resource_types.fsx import PROVIDERS

_SSD: dict[str, Any] = {
    "DeploymentType": "PERSISTENT_2",
    "PerUnitStorageThroughput": 250,
    "MetadataConfiguration": {"Mode": "AUTOMATIC"},
}
_TIERED: dict[str, Any] = {
    "DeploymentType": "PERSISTENT_2",
    "ThroughputCapacity": 8000,
    "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
    "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
}


_NETWORK: dict[str, Any] = {}


@pytest.fixture
def fsx(local_aws: LocalAws) -> Any:
    """Make a subnet whose default security group admits itself, and the buckets that associations name."""
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    for name in ("bucket", "other", "ninth", *(f"other{index}" for index in range(7))):
        local_aws.client("s3").create_bucket(Bucket=name)
    _NETWORK["SubnetIds"] = [subnet]
    return local_aws.client("fsx")


def create(fsx: Any, lustre: dict[str, Any], **others: Any) -> dict[str, Any]:
    made: dict[str, Any] = fsx.create_file_system(
        FileSystemType="LUSTRE",
        **_NETWORK,
        LustreConfiguration=lustre,
        **others,
    )["FileSystem"]
    return made


def refusal(call: Any, **parameters: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    assert caught.value.response["Error"]["Code"] == "BadRequest"
    return str(caught.value.response["Error"]["Message"])


def test_a_file_system_is_kept_word_for_word_and_only_grows(fsx: Any) -> None:
    lustre = _SSD | {
        "EfaEnabled": True,
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000},
    }
    made = create(fsx, lustre, StorageCapacity=19_200)
    assert {key: made["LustreConfiguration"][key] for key in lustre} == lustre
    assert made["FileSystemTypeVersion"] == "2.15"
    one = made["FileSystemId"]
    changed = fsx.update_file_system(FileSystemId=one, StorageCapacity=38_400)["FileSystem"]
    assert changed["StorageCapacity"] == 38_400
    assert "can only grow" in refusal(fsx.update_file_system, FileSystemId=one, StorageCapacity=19_200)
    for settings, said in (
        ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}}, "can only grow"),
        ({"PerUnitStorageThroughput": 500}, "cannot change"),
        ({"ThroughputCapacity": 4000}, "another storage type"),
    ):
        assert said in refusal(fsx.update_file_system, FileSystemId=one, LustreConfiguration=settings)
    (kept,) = fsx.describe_file_systems(FileSystemIds=[one])["FileSystems"]
    assert {key: kept["LustreConfiguration"][key] for key in lustre} == lustre
    fsx.delete_file_system(FileSystemId=one)
    with pytest.raises(ClientError, match="FileSystemNotFound"):
        fsx.describe_file_systems(FileSystemIds=[one])


def test_intelligent_tiering_has_no_size_and_its_throughput_only_grows(fsx: Any) -> None:
    made = create(fsx, _TIERED, StorageType="INTELLIGENT_TIERING")
    assert "StorageCapacity" not in made
    assert {key: made["LustreConfiguration"][key] for key in _TIERED} == _TIERED
    one = made["FileSystemId"]
    grown = {"ThroughputCapacity": 12_000, "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"}}
    changed = fsx.update_file_system(FileSystemId=one, LustreConfiguration=grown)["FileSystem"]
    assert {key: changed["LustreConfiguration"][key] for key in grown} == grown
    for settings in ({"ThroughputCapacity": 8000}, {"ThroughputCapacity": 13_000}):
        refusal(fsx.update_file_system, FileSystemId=one, LustreConfiguration=settings)
    refusal(fsx.update_file_system, FileSystemId=one, StorageCapacity=4800)


@pytest.mark.parametrize(
    ("lustre", "others", "said"),
    [
        (_SSD, {"StorageCapacity": 3600}, "Invalid Lustre FS storage capacity: 3600. Must be 1200 or a multiple of 2400"),
        (_SSD, {}, "Invalid Lustre FS storage capacity: None"),
        (_SSD | {"PerUnitStorageThroughput": 200}, {"StorageCapacity": 4800}, "InvalidPerUnitStorageThroughput"),
        (_SSD | {"EfaEnabled": True}, {"StorageCapacity": 4800}, "Must be a multiple of 19200"),
        (
            {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250, "EfaEnabled": True},
            {"StorageCapacity": 19_200, "FileSystemTypeVersion": "2.15"},
            "MetadataConfiguration",
        ),
        ({"DeploymentType": "SCRATCH_2", "AutomaticBackupRetentionDays": 7}, {"StorageCapacity": 1200}, "Backups are not supported on scratch file systems"),
        (_TIERED, {"StorageType": "INTELLIGENT_TIERING", "StorageCapacity": 4800}, "StorageCapacity is not supported"),
        ({k: v for k, v in _TIERED.items() if k != "DataReadCacheConfiguration"}, {"StorageType": "INTELLIGENT_TIERING"}, "DataReadCacheConfiguration is required"),
        (_TIERED | {"MetadataConfiguration": {"Mode": "AUTOMATIC"}}, {"StorageType": "INTELLIGENT_TIERING"}, "Invalid metadata IOPS: None"),
        (_TIERED, {"StorageCapacity": 4800}, "InvalidPerUnitStorageThroughput"),
    ],
)  # fmt: skip
def test_refuses_what_fsx_refuses(
    fsx: Any, lustre: dict[str, Any], others: dict[str, Any], said: str
) -> None:
    with pytest.raises(ClientError, match=said):
        create(fsx, lustre, **others)
    assert fsx.describe_file_systems()["FileSystems"] == []


def link(file_system: dict[str, Any], folder: str = "/data", bucket: str = "bucket") -> dict[str, Any]:
    return {
        "FileSystemId": file_system["FileSystemId"],
        "FileSystemPath": folder,
        "DataRepositoryPath": f"s3://{bucket}",
        "S3": {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}},
    }


def test_folders_are_linked_to_s3_without_overlap(fsx: Any) -> None:
    one = create(fsx, _SSD, StorageCapacity=4800)
    made = fsx.create_data_repository_association(**link(one))["Association"]
    assert made["S3"] == link(one)["S3"]
    create_association = fsx.create_data_repository_association
    assert "FileSystemPath /data/more/ overlaps" in refusal(
        create_association, **link(one, "/data/more", "other")
    )
    assert "DataRepositoryPath s3://bucket/more/ overlaps" in refusal(
        create_association, **link(one, "/more", "bucket/more")
    )
    for index in range(7):
        create_association(**link(one, f"/more{index}", f"other{index}"))
    assert "at most 8" in refusal(create_association, **link(one, "/ninth", "ninth"))
    filters = [{"Name": "file-system-id", "Values": [one["FileSystemId"]]}]
    assert len(fsx.describe_data_repository_associations(Filters=filters)["Associations"]) == 8
    changed = fsx.update_data_repository_association(
        AssociationId=made["AssociationId"], S3={"AutoImportPolicy": {"Events": ["NEW"]}}
    )["Association"]
    assert changed["S3"] == {"AutoImportPolicy": {"Events": ["NEW"]}}
    fsx.delete_file_system(FileSystemId=one["FileSystemId"])
    assert fsx.describe_data_repository_associations()["Associations"] == []


@pytest.mark.parametrize(
    ("lustre", "others"),
    [
        (_TIERED, {"StorageType": "INTELLIGENT_TIERING"}),
        ({"DeploymentType": "SCRATCH_1"}, {"StorageCapacity": 1200, "FileSystemTypeVersion": "2.12"}),
        ({"DeploymentType": "SCRATCH_2"}, {"StorageCapacity": 1200, "FileSystemTypeVersion": "2.10"}),
    ],
)
def test_some_file_systems_are_not_linked(fsx: Any, lustre: dict[str, Any], others: dict[str, Any]) -> None:
    one = create(fsx, lustre, **others)
    assert "Data repository associations are not supported on" in refusal(
        fsx.create_data_repository_association, **link(one)
    )


def test_a_file_system_has_backups_or_links(fsx: Any) -> None:
    backed_up = create(
        fsx,
        _SSD | {"AutomaticBackupRetentionDays": 7, "CopyTagsToBackups": True},
        StorageCapacity=4800,
        Tags=[{"Key": "team", "Value": "research"}],
    )
    assert "Backups are not supported" in refusal(fsx.create_data_repository_association, **link(backed_up))
    backup = fsx.create_backup(FileSystemId=backed_up["FileSystemId"])["Backup"]
    assert backup["Tags"] == [{"Key": "team", "Value": "research"}]
    linked = create(fsx, _SSD, StorageCapacity=4800)
    fsx.create_data_repository_association(**link(linked))
    settings = {"AutomaticBackupRetentionDays": 7}
    one = linked["FileSystemId"]
    assert "Backups are not supported" in refusal(
        fsx.update_file_system, FileSystemId=one, LustreConfiguration=settings
    )
    assert "not supported on file systems linked" in refusal(fsx.create_backup, FileSystemId=one)
    fsx.delete_file_system(FileSystemId=backed_up["FileSystemId"])
    filters = [{"Name": "file-system-id", "Values": [backed_up["FileSystemId"]]}]
    (kept,) = fsx.describe_backups(Filters=filters)["Backups"]
    assert kept["BackupId"] == backup["BackupId"]
    fsx.delete_backup(BackupId=kept["BackupId"])
    with pytest.raises(ClientError, match="BackupNotFound"):
        fsx.describe_backups(BackupIds=[kept["BackupId"]])


def test_what_is_set_at_creation_is_what_no_update_takes() -> None:
    model = botocore.session.get_session().get_service_model("fsx")
    given = model.shape_for("CreateFileSystemLustreConfiguration").members
    updated = model.shape_for("UpdateFileSystemLustreConfiguration").members
    provider = PROVIDERS["AWS::FSx::FileSystem"]
    paths = provider.create_only("AWS::FSx::FileSystem", {}, {})
    assert {path[1] for path in paths if path[0] == "LustreConfiguration"} == set(given) - set(updated)
