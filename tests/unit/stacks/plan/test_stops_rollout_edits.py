"""Edits of rollout files that were listed before the rules were written: refused or stopped, or passed."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.golden.configurations import configurations
from tests.golden.synthesis import synthesize
from tests.unit.stacks.plan.edits import kept, name_of, put, read

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.plan import StackTemplate, Stop, compare

EDITS = read("rollout")
SAMPLE = 12  # every one of so many runs with `make test`


@cache
def file_of(configuration: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(configurations()[f"{configuration}.yaml"].read_text("utf-8"))
    read["waves"] = [{**read["waves"][0], "clusters": read["waves"][0]["clusters"][:1]}]
    return read


def rollout_of(edit: dict[str, Any]) -> dict[str, Any]:
    """The file after an edit."""
    rollout = copy.deepcopy(file_of(edit["of"]))
    for path, value in edit["set"].items():
        put(rollout["waves"][0]["clusters"][0], path.split("."), value)
    return rollout


def deployed_before(edit: dict[str, Any]) -> list[StackTemplate]:
    """The stacks of the cluster before an edit."""
    name = file_of(edit["of"])["waves"][0]["clusters"][0]["name"]
    return [one for one in kept(edit["of"]) if one.name.startswith(f"{name}-")]


def synthesized(edit: dict[str, Any], folder: Path) -> list[StackTemplate]:
    """The stacks after an edit."""
    (folder / "edited.yaml").write_text(json.dumps(rollout_of(edit)))
    return synthesize({"edited": folder / "edited.yaml"}, folder)["edited"]


def stops(edit: dict[str, Any], folder: Path) -> list[Stop]:
    return [*compare(deployed_before(edit), synthesized(edit, folder)).stops()]


def edits(kind: str) -> list[Any]:
    return [
        pytest.param(edit, id=name_of(edit), marks=pytest.mark.deep if number % SAMPLE else pytest.mark.slow)
        for number, edit in enumerate(EDITS[kind])
    ]


@pytest.mark.parametrize("edit", edits("dangerous"))
def test_a_dangerous_edit_of_a_rollout_is_refused_or_stops(edit: dict[str, Any], tmp_path: Path) -> None:
    try:
        stopped = stops(edit, tmp_path)
    except FindingsError:
        return
    assert stopped, edit["why"]


@pytest.mark.parametrize("edit", edits("safe"))
def test_a_safe_edit_of_a_rollout_passes(edit: dict[str, Any], tmp_path: Path) -> None:
    assert [stop.reason for stop in stops(edit, tmp_path)] == [], edit["why"]
