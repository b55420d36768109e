"""Backups of file systems."""

from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.fsx.file_system_calls import NETWORK, create, link

pytestmark = pytest.mark.slow

PERSISTENT = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
NAME = [{"Key": "Name", "Value": "data"}]
OWN = [{"Key": "own", "Value": "1"}]


def backed_up(fsx: Any, **others: Any) -> dict[str, Any]:
    lustre = PERSISTENT | {"CopyTagsToBackups": others.pop("copy", False)}
    made = create(fsx, lustre, StorageCapacity=1200, Tags=NAME)
    found: dict[str, Any] = fsx.create_backup(FileSystemId=made["FileSystemId"], **others)["Backup"]
    return found


def test_a_backup_is_there_until_it_is_deleted(fsx: Any) -> None:
    made = backed_up(fsx)
    assert (made["Lifecycle"], made["Type"], made["Tags"]) == ("CREATING", "USER_INITIATED", [])
    named = {"BackupIds": [made["BackupId"]]}
    (shown,) = fsx.describe_backups(**named)["Backups"]
    assert (shown["Lifecycle"], shown["ProgressPercent"]) == ("AVAILABLE", 100)

    fsx.delete_file_system(FileSystemId=made["FileSystem"]["FileSystemId"])
    assert fsx.describe_backups(**named)["Backups"] == [shown]
    assert fsx.delete_backup(BackupId=made["BackupId"])["Lifecycle"] == "DELETED"
    assert refusal(fsx.describe_backups, **named)[0] == "BackupNotFound"


@pytest.mark.parametrize(
    ("copy", "given", "kept"), [(True, {}, NAME), (True, {"Tags": OWN}, OWN), (False, {}, [])]
)
def test_tags_of_a_file_system_reach_a_backup_without_tags_of_its_own(
    fsx: Any, *, copy: bool, given: dict[str, Any], kept: list[dict[str, str]]
) -> None:
    made = backed_up(fsx, copy=copy, **given)
    assert fsx.list_tags_for_resource(ResourceARN=made["ResourceARN"])["Tags"] == kept


@pytest.mark.parametrize(
    ("name", "values", "count"),
    [
        ("backup-type", ["USER_INITIATED"], 1),
        ("backup-type", ["AUTOMATIC"], 0),
        ("file-system-type", ["LUSTRE"], 1),
        ("file-system-id", ["fs-0123456789abcdef0"], 0),
    ],
)
def test_backups_are_filtered(fsx: Any, name: str, values: list[str], count: int) -> None:
    backed_up(fsx)
    assert len(fsx.describe_backups(Filters=[{"Name": name, "Values": values}])["Backups"]) == count


def test_a_file_system_is_restored_with_what_is_not_said_anew(fsx: Any) -> None:
    made = backed_up(fsx)
    wanted = {"BackupId": made["BackupId"], **NETWORK}
    restored = fsx.create_file_system_from_backup(**wanted, FileSystemTypeVersion="2.15")["FileSystem"]
    assert restored["FileSystemId"] != made["FileSystem"]["FileSystemId"]
    assert (restored["StorageCapacity"], restored["FileSystemTypeVersion"]) == (1200, "2.15")
    assert restored["LustreConfiguration"]["PerUnitStorageThroughput"] == 125
    more = PERSISTENT | {"PerUnitStorageThroughput": 250}
    again = fsx.create_file_system_from_backup(**wanted, LustreConfiguration=more)["FileSystem"]
    assert again["LustreConfiguration"]["PerUnitStorageThroughput"] == 250


@pytest.mark.parametrize("kind", ["SCRATCH_2", "PERSISTENT_2"])
def test_scratch_and_linked_file_systems_have_no_backups(fsx: Any, kind: str) -> None:
    lustre = {"DeploymentType": kind} | (PERSISTENT if kind == "PERSISTENT_2" else {})
    one = create(fsx, lustre, StorageCapacity=1200)
    if kind == "PERSISTENT_2":
        fsx.create_data_repository_association(**link(one))
    asked = {"FileSystemId": one["FileSystemId"]}
    assert refusal(fsx.create_backup, **asked)[0] == "BadRequest"
    final = {"SkipFinalBackup": False}
    assert refusal(fsx.delete_file_system, **asked, LustreConfiguration=final)[0] == "BadRequest"
    assert len(fsx.describe_file_systems(FileSystemIds=[one["FileSystemId"]])["FileSystems"]) == 1


def test_a_deletion_leaves_the_last_backup_that_it_was_asked_for(fsx: Any) -> None:
    one = create(fsx, PERSISTENT, StorageCapacity=1200)
    final = {"SkipFinalBackup": False, "FinalBackupTags": OWN}
    answer = fsx.delete_file_system(FileSystemId=one["FileSystemId"], LustreConfiguration=final)
    (backup,) = fsx.describe_backups()["Backups"]
    assert answer["LustreResponse"] == {"FinalBackupId": backup["BackupId"], "FinalBackupTags": OWN}


def test_a_backup_or_file_system_that_is_not_there_is_named(fsx: Any) -> None:
    absent = "backup-0123456789abcdef0"
    said = ("BackupNotFound", f"Backup '{absent}' does not exist.")
    assert refusal(fsx.delete_backup, BackupId=absent) == said
    assert refusal(fsx.create_file_system_from_backup, BackupId=absent, **NETWORK) == said
    assert refusal(fsx.create_backup, FileSystemId="fs-0123456789abcdef0")[0] == "FileSystemNotFound"
