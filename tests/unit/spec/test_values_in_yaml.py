"""A value has the same fields, defaults and sentences in Python, in a rollout file and in its schema."""

import json
from collections.abc import Iterator
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.unit.spec.value_parts import parts_of

from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import Value, annotations, default_of, plain, sentences
from ultracluster_stacks.config.reading.partial import part_of

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "docs/rollout.schema.json").read_text("utf-8")
)
SCHEMA["$defs"]["Rollout"] = SCHEMA
REQUIRED: dict[str, Any] = {
    **dict.fromkeys(("start_after", "start_before", "until"), "2026-12-01T00:00:00Z"),
    "actions": ("s3:GetObject",),
    "card": 0,
    "data_repository_path": "s3://bucket",
    "dated": "2026-11-27",
    "file_system_path": "/data",
    "image": "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:1",
    "image_id": "ami-0123456789abcdef0",
    "instance_type": "trn2.48xlarge",
    "interface_type": "efa",
    "market_type": "on-demand",
    "monthly_usd": 1,
    "name": "train",
    "nodes": 1,
    "purchase_options": ("spot",),
    "region": "us-east-2",
    "resources": ("*",),
    "source": "/opt/models",
    "version": 1,
    "zone_id": "use2-az3",
}
MERGED = {
    "Cluster",
    "CapacityRecord",
    "FileSystem",
    "Network",
    "Checkpoints",
    "CustomInstanceType",
    "Rollout",
}
"""Values whose keys `defaults` can provide, or `base`."""


PARTS = parts_of(Rollout)


def _given(part: type[Value]) -> dict[str, Any]:
    return {name: _required(part, name) for name in _required_names(part)}


def _required_names(part: type[Value]) -> Iterator[str]:
    return (name for name in annotations(part) if default_of(part, name) is MISSING)


def _required(part: type[Value], name: str) -> Any:
    inner = part_of(annotations(part)[name])
    if inner is not None:
        return (_given(inner),)
    return REQUIRED.get(name, "text" if annotations(part)[name] is str else 1)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_what_a_file_leaves_out_is_what_python_leaves_out(part: type[Value]) -> None:
    read = TypeAdapter(part).validate_python(_given(part))

    for name in annotations(part).keys() - set(_required_names(part)):
        assert getattr(read, name) == default_of(part, name), name


@pytest.mark.parametrize("name", PARTS)
def test_the_schema_has_the_defaults_and_the_sentences_of_a_value(name: str) -> None:
    part, described = PARTS[name], SCHEMA["$defs"][name]
    properties = {key: each for key, each in described["properties"].items() if key in annotations(part)}

    assert {key: each["description"] for key, each in properties.items()} == sentences(part)
    for key, each in properties.items():
        default = default_of(part, key)
        assert (default is MISSING and name not in MERGED) is (
            name not in MERGED and key in described.get("required", ())
        ), key
        if default is not MISSING and "default" in each:
            shown = plain(default)
            assert each["default"] == shown or isinstance(default, Value), key
