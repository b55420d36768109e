"""Values keep what they were built from, and say of themselves what is wrong with them."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, get_args, get_type_hints

import pytest

import ultracluster_spec
from ultracluster_spec.bounds import Between
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.job import NamedJob
from ultracluster_spec.lustre import Association
from ultracluster_spec.queue import AdditionalQueue
from ultracluster_spec.values import (
    Value,
    broken_bounds,
    fields_of,
    incomplete,
    is_unset,
    sentences,
    wrong_types,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing(Value):
    """A thing."""

    size: Annotated[int, Between("UC5101", 1, 5)] | None = None
    """Its size,
    in metres."""

    labels: Any = None
    """Its labels."""

    part: "Thing | None" = None
    """Another thing."""


def test_changes_of_what_a_value_was_built_from_do_not_change_it() -> None:
    labels = {"team": "research"}
    links = [Association(file_system_path="/a", data_repository_path="s3://bucket")]
    thing, system = Thing(labels=labels), FileSystem(associations=links)  # type: ignore[arg-type]
    labels["team"] = "other"
    links.clear()
    assert thing.labels == {"team": "research"}
    assert len(system.associations) == 1


def test_bounds_and_types_of_values_within_a_value_are_found_with_the_way_to_them() -> None:
    thing = Thing(size=9, part=Thing(size=0))
    assert [(each.code, each.path) for each in broken_bounds(thing)] == [
        ("UC5101", "size"),
        ("UC5101", "part.size"),
    ]
    link = Association(file_system_path=1, data_repository_path="s3://bucket")  # type: ignore[arg-type]
    assert [(each.code, each.path) for each in wrong_types(FileSystem(associations=(link,)))] == [
        ("UC1032", "associations[0].file_system_path")
    ]


def test_bounds_of_unset_fields_are_not_judged() -> None:
    assert broken_bounds(Thing(size=9).without({"size"})) == []


def test_a_field_differs_from_its_default() -> None:
    assert Thing(size=3).differs("size")
    assert not Thing().differs("size")


def test_a_field_without_a_value_is_unset_and_another_name_is_a_bug() -> None:
    thing = incomplete(Thing, {"labels": None})
    for name, unset in (("size", True), ("sizze", False)):
        with pytest.raises(AttributeError) as error:
            getattr(thing, name)
        assert is_unset(error.value) is unset


def test_the_sentence_of_a_field_stands_below_it() -> None:
    assert sentences(Thing)["size"] == "Its size, in metres."


def test_each_setting_of_a_cluster_is_described_in_a_sentence() -> None:
    for value in (Cluster, AdditionalQueue, NamedJob):
        descriptions = sentences(value)
        assert descriptions.keys() == fields_of(value).keys()
        assert all(text.endswith(".") for text in descriptions.values())


def values() -> Iterator[type[Value]]:
    """All classes of values; those with an underscore only give others their fields."""
    for module in pkgutil.iter_modules(ultracluster_spec.__path__):
        importlib.import_module(f"ultracluster_spec.{module.name}")
    todo = [Value]
    while todo:
        here = todo.pop().__subclasses__()
        todo += here
        yield from (each for each in here if is_dataclass(each) and not each.__name__.startswith("_"))


@pytest.mark.parametrize("word", ["", "0", "nonsense", "Batch"])
def test_a_word_that_is_no_choice_of_a_field_is_found_in_every_value(word: str) -> None:
    """Type checkers know the choices of a field; programs without one do not."""
    found, fields = set(), set()
    for value in values():
        for name in fields_of(value):
            annotation = get_type_hints(value)[name]
            choices = [part for part in flattened(annotation) if isinstance(part, str)]
            if choices:
                given = (word,) if "tuple" in str(annotation) else word
                fields.add((value.__name__, name))
                found |= {
                    (value.__name__, name)
                    for finding in wrong_types(
                        incomplete(value, dict.fromkeys(fields_of(value)) | {name: given})
                    )
                    if finding.code == "UC1023" and finding.path.partition("[")[0] == name
                }

    assert {("NetworkInterface", "interface_type"), ("CapacityBlock", "launched_by")} <= fields
    assert found == fields


def flattened(annotation: Any) -> Iterator[Any]:
    """Yield the words of all literals in an annotation."""
    for part in get_args(annotation):
        yield from flattened(part) if get_args(part) else (part,)
