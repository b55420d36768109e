"""What configurations give today, held against what is kept: each byte of two, types and what holds data of all."""

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.golden.configurations import KEPT, NEXT, configurations, templates_of
from tests.golden.kept import read_kept, text_of
from tests.golden.stateful_ids import TABLE, Row, broken_rows, stateful_ids
from tests.golden.synthesis import stacks_of
from tests.golden.types import NUMBERS, numbers_of_types
from tests.golden.write import freeze

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.values import fields_of
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import compare

pytestmark = pytest.mark.slow

ROWS: Mapping[str, Mapping[str, Row]] = json.loads(TABLE.read_text("utf-8"))
FILE_SYSTEM = "FileSystem8A8E25C0"
STORAGE = "quickstart-us-east-2-Storage"
IN_NO_TEMPLATE = {"profile", "suppress"}  # who deploys, and which warnings are not shown


@pytest.mark.parametrize("name", KEPT)
def test_each_change_of_a_template_is_seen_in_review(name: str) -> None:
    kept, now = templates_of(NEXT, name).read_text("utf-8"), text_of(stacks_of(name))

    if kept != now:
        upgrade = compare(read_kept(kept), read_kept(now))
        changes = [
            f"{change.stack}/{change.logical_id}: {change.action}"
            for stack in upgrade.stacks
            for change in stack.changes
        ]
        pytest.fail(
            f"{name} gives other templates than tests/golden/next/{name}.json.\n"
            "If that is meant, run `make golden` and show the difference in the review.\n"
            + "\n".join([*changes, *(stop.reason for stop in upgrade.stops())])
        )


@pytest.mark.parametrize("name", configurations())
def test_each_new_or_missing_resource_is_seen_in_review(name: str) -> None:
    assert numbers_of_types(stacks_of(name)) == json.loads(NUMBERS.read_text("utf-8"))[name], (
        "run `make golden`"
    )


def test_templates_are_kept_of_two_configurations() -> None:
    assert {path.stem for path in NEXT.glob("*.json")} == set(KEPT)


def test_the_configurations_use_every_field_of_a_cluster() -> None:
    rollouts = [path for path in configurations().values() if path.suffix == ".yaml"]
    used = {
        field
        for path in rollouts
        for wave in load_rollout(path).config.waves
        for cluster in wave.clusters
        for field in cluster.known()
        if cluster.differs(field)
    }

    assert fields_of(Cluster).keys() - used == IN_NO_TEMPLATE


# What holds data


@pytest.mark.parametrize("name", sorted(ROWS))
def test_what_holds_data_is_not_made_anew(name: str) -> None:
    if broken := broken_rows(ROWS[name], stacks_of(name)):
        pytest.fail("\n".join(broken))
    assert stateful_ids(stacks_of(name)).keys() <= ROWS[name].keys(), "run `make golden`"


def test_the_table_has_all_configurations() -> None:
    assert ROWS.keys() == configurations().keys()


def test_a_changed_id_is_reported_with_its_effect_on_users() -> None:
    name = "quickstart.yaml"
    moved = [
        replace(
            stack,
            template=json.loads(json.dumps(stack.template).replace(f'"{FILE_SYSTEM}"', '"SharedFiles"')),
            paths={one.replace(FILE_SYSTEM, "SharedFiles"): path for one, path in stack.paths.items()},
        )
        for stack in stacks_of(name)
    ]

    (said,), links = split(broken_rows(ROWS[name], moved))

    assert said.startswith(f"{STORAGE}: quickstart-us-east-2/Storage/FileSystem/Resource was {FILE_SYSTEM}")
    assert "and is SharedFiles now" in said
    assert "an empty one would be mounted" in said
    assert links
    assert all(" had FileSystemId " in each for each in links)


def split(broken: list[str]) -> tuple[list[str], list[str]]:
    """What is said of the file system, and of what stands on it."""
    place = f"{STORAGE}: quickstart-us-east-2/Storage/FileSystem/Resource "
    return [one for one in broken if one.startswith(place)], [
        one for one in broken if not one.startswith(place)
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [("LustreConfiguration.DeploymentType", "SCRATCH_2"), ("KmsKeyId", "alias/theirs"), ("SubnetIds", None)],
)
def test_a_changed_create_only_property_is_reported_with_its_effect_on_users(
    path: str, value: str | None
) -> None:
    name = "quickstart.yaml"
    changed = copy.deepcopy(stacks_of(name))
    *parts, last = path.split(".")
    (stack,) = (stack for stack in changed if stack.name == STORAGE)
    properties: Any = stack.resources[FILE_SYSTEM]["Properties"]
    for part in parts:
        properties = properties[part]
    if value is None:
        del properties[last]
    else:
        properties[last] = value

    said = broken_rows(ROWS[name], changed)

    assert said[0].startswith(f"{STORAGE}: quickstart-us-east-2/Storage/FileSystem/Resource had {path} ")
    assert f"and has {value} now" in said[0]
    assert "an empty one would be mounted" in said[0]
    assert len(said) == 1


def test_what_an_update_can_change_breaks_no_row() -> None:
    name = "quickstart.yaml"
    changed = copy.deepcopy(stacks_of(name))
    (stack,) = (stack for stack in changed if stack.name == STORAGE)
    properties: Any = stack.resources[FILE_SYSTEM]["Properties"]
    properties["StorageCapacity"] *= 2

    assert broken_rows(ROWS[name], changed) == []


def test_a_changed_stack_name_is_reported_as_well() -> None:
    name = "quickstart.yaml"

    said = broken_rows(ROWS[name], [stack for stack in stacks_of(name) if stack.name != STORAGE])

    assert len(said) == len([place for place in ROWS[name] if place.startswith(STORAGE)]) > 2
    assert all("and is no longer there" in each for each in said)


# Releases


def test_a_release_is_frozen_once_and_as_what_it_is(tmp_path: Path) -> None:
    freeze("0.1.0", golden=tmp_path, declared="0.1.0")

    for name, source in configurations().items():
        assert (tmp_path / "0.1.0" / name).read_bytes() == source.read_bytes()
        assert templates_of(tmp_path / "0.1.0", name).read_text("utf-8") == text_of(stacks_of(name))
    with pytest.raises(SystemExit, match="kept already"):
        freeze("0.1.0", golden=tmp_path, declared="0.1.0")
    with pytest.raises(SystemExit, match=r"this is 0\.1\.0"):
        freeze("0.2.0", golden=tmp_path, declared="0.1.0")
