"""Folders of a file system are linked to S3."""

from typing import Any

import pytest
from tests.services.fsx.file_system_calls import create, link, refusal

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
    assert "Invalid DataRepositoryPath" in refusal(create_association, **link(one, "/more", ""))
    twice = link(one, "/more", "other") | {"S3": {"AutoImportPolicy": {"Events": ["NEW", "NEW"]}}}
    assert "Invalid events of AutoImportPolicy: NEW, NEW" in refusal(create_association, **twice)
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


def test_a_file_system_has_automatic_backups_or_links(fsx: Any) -> None:
    backed_up = create(
        fsx, _SSD | {"AutomaticBackupRetentionDays": 7, "CopyTagsToBackups": True}, StorageCapacity=4800
    )
    linked = create(fsx, _SSD, StorageCapacity=4800)
    fsx.create_data_repository_association(**link(linked))

    assert "Backups are not supported" in refusal(fsx.create_data_repository_association, **link(backed_up))
    assert "Backups are not supported" in refusal(
        fsx.update_file_system,
        FileSystemId=linked["FileSystemId"],
        LustreConfiguration={"AutomaticBackupRetentionDays": 7},
    )
