"""What FSx takes of data repository associations, and what it refuses."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_associations import (
    ASSOCIATION_EVENTS,
    DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM,
)
from ultracluster_spec.lustre import Association, Links, check_associations, deletions_stay_on_lustre
from ultracluster_spec.rules import findings

_SSD = LustreSettings().with_defaults()


def _codes(
    *places: tuple[str, str], settings: LustreSettings = _SSD, **options: Any
) -> list[tuple[str, str]]:
    joined = [
        Association(file_system_path=folder, data_repository_path=path, **options) for folder, path in places
    ]
    return [(each.code, each.path) for each in check_associations(joined, settings=settings)]


def _many(count: int) -> list[tuple[str, str]]:
    return [(f"/data{index}", f"s3://bucket/{index}/") for index in range(count)]


def test_limits_are_those_of_fsx(botocore_shapes: Callable[[str], Mapping[str, Any]]) -> None:
    shapes = botocore_shapes("fsx/2018-03-01")
    assert set(ASSOCIATION_EVENTS) == set(shapes["EventType"]["enum"])
    assert shapes["EventTypes"]["max"] == len(ASSOCIATION_EVENTS)
    # FSx API reference, CreateDataRepositoryAssociation.
    assert DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM == 8


def test_nothing_is_deleted_on_the_other_side_unless_that_was_typed() -> None:
    association = Association(file_system_path="/a", data_repository_path="s3://b")
    assert "DELETED" not in association.import_events + association.export_events


def test_joins_eight_folders_and_no_more() -> None:
    assert _codes(*_many(8)) == []
    assert _codes(*_many(9)) == [("UC5021", "associations")]


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"deployment_type": "SCRATCH_1"}, 1),
        ({"storage_type": "INTELLIGENT_TIERING"}, 1),
        ({"file_system_type_version": "2.10"}, 1),
        ({"deployment_type": "SCRATCH_2"}, 0),
        ({"deployment_type": "PERSISTENT_1"}, 0),
        ({"file_system_type_version": "2.12"}, 0),
    ],
)
def test_some_file_systems_cannot_be_joined(changes: dict[str, Any], count: int) -> None:
    assert _codes(*_many(1), settings=LustreSettings(**changes)) == [("UC5020", "associations")] * count
    assert check_associations([], settings=LustreSettings(**changes)) == []


def test_what_is_joined_is_not_backed_up() -> None:
    settings = LustreSettings(backup_retention_days=7, copy_tags_to_backups=True)
    assert _codes(*_many(1), settings=settings) == [
        ("UC5014", "backup_retention_days"),
        ("UC5014", "copy_tags_to_backups"),
    ]
    assert check_associations([], settings=settings) == []
    assert _codes(*_many(1), settings=LustreSettings(backup_retention_days=1)) == [
        ("UC5014", "backup_retention_days")
    ]


@pytest.mark.parametrize("folder", ["/", "/a", "/a/", "/a/b", "/a b/c", "/a.b/..c", "/" + "a" * 4095])
def test_takes_folders_from_the_root(folder: str) -> None:
    assert _codes((folder, "s3://bucket")) == []


@pytest.mark.parametrize(
    "folder", ["", "a", "a/b", "//", "/a//b", "/a/../b", "/.", "/a\nb", "s3://b", "/" + "a" * 4096]
)
def test_refuses_anything_but_a_folder_from_the_root(folder: str) -> None:
    assert _codes((folder, "s3://bucket")) == [("UC5022", "associations[0].file_system_path")]


@pytest.mark.parametrize("path", ["s3://bucket", "s3://bucket/", "s3://bucket/a/b c", "s3://${Token[B.1]}/a"])
def test_takes_buckets_and_prefixes(path: str) -> None:
    assert _codes(("/a", path)) == []


@pytest.mark.parametrize("path", ["", "bucket", "s3://", "s3:///a", "S3://bucket", "s3://b\n", "s3://a b"])
def test_refuses_an_invalid_s3_path(path: str) -> None:
    assert _codes(("/a", path)) == [("UC5025", "associations[0].data_repository_path")]


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("/a", "/a", True),
        ("/a", "/a/", True),
        ("/a", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/", "/a", True),
        ("/a", "/ab", False),
        ("/a/b", "/a/c", False),
    ],
)
def test_folders_do_not_contain_each_other(one: str, other: str, overlap: bool) -> None:
    found = _codes((one, "s3://bucket-a"), (other, "s3://bucket-b"))
    assert found == [("UC5023", "associations[1].file_system_path")] * overlap


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("s3://b", "s3://b", True),
        ("s3://b", "s3://b/", True),
        ("s3://b", "s3://b/x/", True),
        ("s3://b/x/y", "s3://b/x", True),
        ("s3://b/x", "s3://b/xy", False),
        ("s3://b", "s3://bc", False),
        ("s3://b/x/", "s3://b/y/", False),
    ],
)
def test_s3_paths_do_not_contain_each_other(one: str, other: str, overlap: bool) -> None:
    found = _codes(("/a", one), ("/b", other))
    assert found == [("UC5024", "associations[1].data_repository_path")] * overlap


@pytest.mark.parametrize(
    ("events", "place"),
    [
        ((), None),
        (("NEW", "CHANGED"), None),
        (("NEW", "DELETED"), "associations[0].export_events[1]"),
        (("DELETED",), "associations[0].export_events[0]"),
    ],
)
def test_deletions_are_imported_only(events: tuple[str, ...], place: str | None) -> None:
    link = Association(
        file_system_path="/a",
        data_repository_path="s3://b",
        import_events=("DELETED",),
        export_events=events,
    )
    found = findings([deletions_stay_on_lustre], Links(settings=_SSD, associations=[link]))

    assert [(each.code, each.path) for each in found] == ([("UC5208", place)] if place else [])


@pytest.mark.parametrize("events", [("new",), ("NEW", "NEW"), ("MOVED",)])
def test_refuses_other_events_and_repeated_ones(events: tuple[str, ...]) -> None:
    assert _codes(("/a", "s3://b"), import_events=events, export_events=events) == [
        ("UC5026", "associations[0].import_events"),
        ("UC5026", "associations[0].export_events"),
    ]


def test_every_pair_that_overlaps_is_shown() -> None:
    found = _codes(("/a", "s3://x"), ("/a/b", "s3://y"), ("/a/b/c", "s3://z"))
    assert [path for _, path in found] == [f"associations[{i}].file_system_path" for i in (1, 2, 2)]
