"""What FSx takes of data repository associations, where rows of tests/unit/bad_inputs/rules.yaml cannot say it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_associations import (
    ASSOCIATION_EVENTS,
    DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM,
)
from ultracluster_spec.lustre import Association, check_associations

_SSD = LustreSettings().with_defaults()


def _codes(
    *places: tuple[str, str], settings: LustreSettings = _SSD, **options: Any
) -> list[tuple[str, str]]:
    joined = [
        Association(file_system_path=folder, data_repository_path=path, **options) for folder, path in places
    ]
    return [(each.code, each.path) for each in check_associations(joined, settings=settings)]


def test_limits_are_those_of_fsx(botocore_shapes: Callable[[str], Mapping[str, Any]]) -> None:
    shapes = botocore_shapes("fsx/2018-03-01")
    assert set(ASSOCIATION_EVENTS) == set(shapes["EventType"]["enum"])
    assert shapes["EventTypes"]["max"] == len(ASSOCIATION_EVENTS)
    # FSx API reference, CreateDataRepositoryAssociation.
    assert DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM == 8


def test_nothing_is_deleted_on_the_other_side_unless_that_was_typed() -> None:
    association = Association(file_system_path="/a", data_repository_path="s3://b")
    assert "DELETED" not in association.import_events + association.export_events


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
    assert (
        _codes(("/data", "s3://bucket"), settings=LustreSettings(**changes))
        == [("UC5020", "associations")] * count
    )
    assert check_associations([], settings=LustreSettings(**changes)) == []


def test_a_path_has_4096_characters_or_is_known_at_the_deployment() -> None:
    assert _codes(("/" + "a" * 4095, "s3://${Token[B.1]}/a")) == []
    assert _codes(("/" + "a" * 4096, "s3://bucket")) == [("UC5022", "associations[0].file_system_path")]


@pytest.mark.parametrize("events", [("new",), ("NEW", "NEW"), ("MOVED",)])
def test_refuses_other_events_and_repeated_ones(events: tuple[str, ...]) -> None:
    assert _codes(("/a", "s3://b"), import_events=events, export_events=events) == [
        ("UC5026", "associations[0].import_events"),
        ("UC5026", "associations[0].export_events"),
    ]
