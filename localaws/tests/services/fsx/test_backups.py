"""Backups of file systems."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.fsx.file_system_calls import create, link, refusal

_SSD: dict[str, Any] = {
    "DeploymentType": "PERSISTENT_2",
    "PerUnitStorageThroughput": 250,
    "MetadataConfiguration": {"Mode": "AUTOMATIC"},
}


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
