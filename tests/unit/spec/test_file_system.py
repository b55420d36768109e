"""What is unknown of a file system stays unknown in its settings."""

from ultracluster_spec.file_system import FILE_SYSTEM_RULES, FileSystem
from ultracluster_spec.lustre import SETTINGS_RULES
from ultracluster_spec.rules import findings


def test_settings_have_the_defaults_of_the_storage_type() -> None:
    assert FileSystem().settings.storage_capacity_gib == 4800
    tiered = FileSystem(storage_type="INTELLIGENT_TIERING", read_cache="NO_CACHE").settings
    assert (tiered.storage_capacity_gib, tiered.throughput_capacity) == (None, 4000)


def test_an_unknown_size_ends_the_rule_about_sizes_only() -> None:
    system = FileSystem(metadata_iops=9000, storage_capacity_gib=1300)
    assert [each.code for each in findings(SETTINGS_RULES, system.settings)] == ["UC5003", "UC5006"]
    unknown = system.without({"storage_capacity_gib"})
    assert [each.code for each in findings(SETTINGS_RULES, unknown.settings)] == ["UC5006"]


def test_nothing_is_guessed_without_the_storage_type() -> None:
    assert findings(SETTINGS_RULES, FileSystem().without({"storage_type"}).settings) == []


def test_an_existing_file_system_has_no_settings_of_a_new_one() -> None:
    existing = FileSystem(file_system_id="fs-0123456789abcdef0", storage_capacity_gib=4800)
    assert [each.path for each in findings(FILE_SYSTEM_RULES, existing)] == [
        "file_system_id",
        "storage_capacity_gib",
    ]
