"""A rule ends at what is unset, keeps what it has yielded, and hides no bug."""

from collections.abc import Iterator

import pytest

from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.rules import At, broken, findings, path_text, rule


@rule("UC5103")
def _is_small(system: FileSystem) -> Iterator[At]:
    """It is small."""
    yield At(("associations", 0, "file_system_path"), "first")
    if system.storage_capacity_gib:
        yield At("storage_capacity_gib", "second")


@rule("UC5103")
def _misspells(system: FileSystem) -> Iterator[At]:
    """It has a bug."""
    yield At("efa", str(system.eefa))  # type: ignore[attr-defined]


def test_what_was_yielded_before_an_unset_field_stays() -> None:
    unknown = FileSystem(storage_capacity_gib=4800).without({"storage_capacity_gib"})
    assert [each.problem for each in findings([_is_small], FileSystem(storage_capacity_gib=4800))] == [
        "first",
        "second",
    ]
    assert [(place, each.path) for place, each in broken([_is_small], unknown)] == [
        (("associations", 0, "file_system_path"), "associations[0].file_system_path")
    ]


def test_a_name_that_is_no_field_is_a_bug() -> None:
    with pytest.raises(AttributeError, match="eefa"):
        findings([_misspells], FileSystem())


def test_a_place_is_written_as_people_do() -> None:
    assert path_text(("efa",)) == "efa"
    assert path_text(("jobs", 2, "image")) == "jobs[2].image"
