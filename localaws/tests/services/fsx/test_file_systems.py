"""FSx for Lustre on the local AWS, through boto3: what is kept, what grows, what is refused."""

from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError
from tests.services.fsx.file_system_calls import NETWORK, create, refusal

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
    assert "greater than" in refusal(fsx.update_file_system, FileSystemId=one, StorageCapacity=38_400)
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
    (left,) = fsx.describe_file_systems()["FileSystems"]
    assert left == kept | {"Lifecycle": "DELETING"}
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
        ({"DeploymentType": "SCRATCH_2", "DriveCacheType": "NONE"}, {"StorageType": "HDD", "StorageCapacity": 1200}, "HDD storage is not supported"),
        (_SSD | {"ImportPath": "s3://bucket"}, {"StorageCapacity": 4800}, "Linking a Persistent 2 file system to an S3 bucket using the LustreConfiguration is not supported"),
        (_SSD | {"ThroughputCapacity": 4000}, {"StorageCapacity": 4800}, "ThroughputCapacity is only supported"),
        (_TIERED | {"DataReadCacheConfiguration": {"SizingMode": "NO_CACHE", "SizeGiB": 64}}, {"StorageType": "INTELLIGENT_TIERING"}, "SizeGiB of DataReadCacheConfiguration is not supported"),
        (_TIERED | {"DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 63}}, {"StorageType": "INTELLIGENT_TIERING"}, "SizeGiB"),
    ],
)  # fmt: skip
def test_refuses_what_fsx_refuses(
    fsx: Any, lustre: dict[str, Any], others: dict[str, Any], said: str
) -> None:
    with pytest.raises(ClientError, match=said):
        create(fsx, lustre, **others)
    assert fsx.describe_file_systems()["FileSystems"] == []


def test_what_is_set_at_creation_is_what_no_update_takes() -> None:
    model = botocore.session.get_session().get_service_model("fsx")
    given = model.shape_for("CreateFileSystemLustreConfiguration").members
    updated = model.shape_for("UpdateFileSystemLustreConfiguration").members
    provider = PROVIDERS["AWS::FSx::FileSystem"]
    paths = provider.create_only("AWS::FSx::FileSystem", {}, {})
    assert {path[1] for path in paths if path[0] == "LustreConfiguration"} == set(given) - set(updated)


@pytest.mark.parametrize("kind", ["ONTAP", "OPENZFS", "WINDOWS"])
def test_a_file_system_of_another_type_is_refused_by_name(fsx: Any, kind: str) -> None:
    asked = {"FileSystemType": kind, "StorageCapacity": 1024, "SubnetIds": NETWORK["SubnetIds"]}

    assert (
        refusal(fsx.create_file_system, **asked)
        == f"The local AWS does not simulate file systems of type {kind}"
    )
    assert fsx.describe_file_systems()["FileSystems"] == []


_LINK = {"ImportPath": "s3://bucket/in", "ExportPath": "s3://bucket/out", "AutoImportPolicy": "NEW", "ImportedFileChunkSize": 2048}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (_LINK, _LINK),
        ({"ImportPath": "s3://bucket"}, {"ImportPath": "s3://bucket", "AutoImportPolicy": "NONE", "ImportedFileChunkSize": 1024}),
    ],
)  # fmt: skip
def test_a_file_system_shows_the_bucket_that_it_is_linked_to(
    fsx: Any, given: dict[str, Any], shown: dict[str, Any]
) -> None:
    made = create(fsx, {"DeploymentType": "SCRATCH_2", **given}, StorageCapacity=1200)
    (kept,) = fsx.describe_file_systems(FileSystemIds=[made["FileSystemId"]])["FileSystems"]
    link = kept["LustreConfiguration"]["DataRepositoryConfiguration"]
    assert link == link | shown | {"Lifecycle": "AVAILABLE"}
    assert link["ExportPath"].startswith("s3://bucket/")
    changed = fsx.update_file_system(
        FileSystemId=made["FileSystemId"], LustreConfiguration={"AutoImportPolicy": "NEW_CHANGED"}
    )["FileSystem"]["LustreConfiguration"]
    assert changed["DataRepositoryConfiguration"]["AutoImportPolicy"] == "NEW_CHANGED"
    assert "AutoImportPolicy" not in changed


@pytest.mark.parametrize(("iops", "grows"), [(1500, False), (3000, True)])
def test_metadata_iops_grow_before_storage(fsx: Any, iops: int, *, grows: bool) -> None:
    settings = _SSD | {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": iops}}
    one = create(fsx, settings, StorageCapacity=1200)["FileSystemId"]
    if grows:
        assert (
            fsx.update_file_system(FileSystemId=one, StorageCapacity=2400)["FileSystem"]["StorageCapacity"]
            == 2400
        )
    else:
        assert "Metadata IOPS must be at least 3000" in refusal(
            fsx.update_file_system, FileSystemId=one, StorageCapacity=2400
        )


@pytest.mark.parametrize(("capacity", "interfaces"), [(1200, 2), (2400, 2), (4800, 3)])
def test_a_file_system_has_an_interface_for_each_server_and_one_for_the_metadata(
    fsx: Any, capacity: int, interfaces: int
) -> None:
    assert (
        len(create(fsx, {"DeploymentType": "SCRATCH_2"}, StorageCapacity=capacity)["NetworkInterfaceIds"])
        == interfaces
    )


def test_lustre_has_no_volumes(fsx: Any) -> None:
    assert fsx.describe_volumes()["Volumes"] == []


@pytest.mark.parametrize(
    "settings",
    [
        {"WindowsConfiguration": {"ThroughputCapacity": 8}},
        {"OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64}},
        {"OntapConfiguration": {"DeploymentType": "SINGLE_AZ_1"}},
    ],
)
def test_settings_of_other_types_are_refused_by_name(fsx: Any, settings: dict[str, Any]) -> None:
    said = refusal(
        fsx.create_file_system, FileSystemType="LUSTRE", **NETWORK, StorageCapacity=1200, **settings
    )
    assert next(iter(settings)) in said
