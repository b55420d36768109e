"""Fields of models and of values are read alike."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from ultracluster_spec import AdditionalCapacity, Association, CapacityRecord, FileSystem
from ultracluster_spec.values import Value, sentences
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.config.reading.fields import part_fields


def test_fields_of_models_and_values_have_defaults_unless_they_are_required() -> None:
    for part, required in ((ClusterConfig, "name"), (Association, "file_system_path")):
        assert part_fields(part)[required].default is None
    made = part_fields(ClusterConfig)["file_system"].default
    assert made is not None
    assert made() == FileSystem()


_SCHEMA = Path(__file__).parents[5] / "docs/rollout.schema.json"
_REQUIRED = {
    Association: {"file_system_path": "/data", "data_repository_path": "s3://bucket"},
    AdditionalCapacity: {"name": "spill", "market_type": "on-demand"},
}


@pytest.mark.parametrize("value", [FileSystem, Association, CapacityRecord, AdditionalCapacity])
def test_a_default_of_a_value_is_that_of_yaml_and_of_the_schema(value: type[Value]) -> None:
    given = _REQUIRED.get(value, {})
    assert TypeAdapter(value).validate_python(given) == value(**given)

    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    described = schema["$defs"][value.__name__]
    for name, field in part_fields(value).items():
        default = field.default and field.default()
        assert (name in described.get("required", ())) is (field.default is None)
        shown = described["properties"][name].get("default")
        assert shown == (list(default) if isinstance(default, tuple) else default), name


@pytest.mark.parametrize("value", [FileSystem, Association, CapacityRecord, AdditionalCapacity])
def test_a_field_of_a_value_has_one_sentence_which_the_schema_shows(value: type[Value]) -> None:
    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    shown = schema["$defs"][value.__name__]["properties"]
    assert {name: field["description"] for name, field in shown.items()} == {
        name: sentences(value)[name] for name in part_fields(value)
    }
