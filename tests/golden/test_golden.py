"""What configurations give today, held against what is kept: of the version to come each byte, of released ones the danger."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.golden.configurations import GOLDEN, NEXT, configurations, released, templates_of
from tests.golden.kept import read_kept, text_of
from tests.golden.resource_changes import named_since, unexplained
from tests.golden.stateful_ids import TABLE, broken_rows, stateful_ids
from tests.golden.synthesis import synthesize
from tests.golden.upgrades import problems
from tests.golden.write import freeze

from ultracluster_stacks.config import ClusterConfig, load_rollout
from ultracluster_stacks.plan import StackTemplate, compare

pytestmark = pytest.mark.synth

CHANGELOG = (GOLDEN.parents[1] / "CHANGELOG.md").read_text("utf-8")
IDS: Mapping[str, Mapping[str, str]] = json.loads(TABLE.read_text("utf-8"))
FILE_SYSTEM = "FileSystem8A8E25C0"
STORAGE = "quickstart-us-east-2-Storage"
IN_NO_TEMPLATE = {"profile", "suppress"}  # who deploys, and which warnings are not shown

Stacks = dict[str, list[StackTemplate]]
Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Stacks:
    return synthesize(configurations(NEXT), tmp_path_factory.mktemp("golden"))


# The version to come


@pytest.mark.parametrize("name", configurations(NEXT))
def test_each_change_of_a_template_is_seen_in_review(today: Stacks, name: str) -> None:
    kept, now = templates_of(NEXT, name).read_text("utf-8"), text_of(today[name])

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
            + "\n".join([*changes, *unexplained(upgrade, [])])
        )


def test_templates_are_kept_of_these_configurations_and_no_others() -> None:
    for version in (NEXT, *released()):
        assert {path.stem for path in version.glob("*.json")} == configurations(version).keys()


def test_the_configurations_use_every_field_of_a_cluster() -> None:
    rollouts = [path for path in configurations(NEXT).values() if path.suffix == ".yaml"]
    used = {
        field
        for path in rollouts
        for wave in load_rollout(path).config.waves
        for cluster in wave.clusters
        for field in _set(cluster)
    }

    assert ClusterConfig.model_fields.keys() - used == IN_NO_TEMPLATE


def _set(model: BaseModel) -> Iterator[str]:
    return (
        name
        for name in model.model_fields_set
        if getattr(model, name) != type(model).model_fields[name].default
    )


# What holds data


@pytest.mark.parametrize("name", sorted(IDS))
def test_what_holds_data_keeps_its_logical_id(today: Stacks, name: str) -> None:
    if broken := broken_rows(IDS[name], today[name]):
        pytest.fail("\n".join(broken))
    assert stateful_ids(today[name]).items() - IDS[name].items() == set(), "run `make golden`"


def test_the_table_of_ids_has_all_configurations(today: Stacks) -> None:
    assert IDS.keys() == today.keys()


def test_a_changed_id_is_reported_with_its_effect_on_users(today: Stacks) -> None:
    name = "quickstart.yaml"
    moved = [
        replace(
            stack,
            template=json.loads(json.dumps(stack.template).replace(f'"{FILE_SYSTEM}"', '"SharedFiles"')),
            paths={one.replace(FILE_SYSTEM, "SharedFiles"): path for one, path in stack.paths.items()},
        )
        for stack in today[name]
    ]

    (said,) = broken_rows(IDS[name], moved)

    assert said.startswith(f"{STORAGE}: quickstart-us-east-2/Storage/FileSystem/Resource was {FILE_SYSTEM}")
    assert "and is SharedFiles now" in said
    assert "an empty one would be mounted" in said


def test_a_changed_stack_name_is_reported_as_well(today: Stacks) -> None:
    name = "quickstart.yaml"

    said = broken_rows(IDS[name], [stack for stack in today[name] if stack.name != STORAGE])

    assert len(said) == len([place for place in IDS[name] if place.startswith(STORAGE)]) > 2
    assert all("and is no longer there" in each for each in said)


# Released versions

FROZEN = {"0.1.0": "fc170979e7dafd86d558935755f23b1a5ddc79766e1e9706e434e6aea70033c3"}
"""SHA-256 of each released folder, by version. No tool writes it: a release adds a line, and no line changes."""


def test_what_was_released_is_what_it_was() -> None:
    digests = {version.name: _digest(version) for version in released()}

    assert digests == FROZEN, "restore the folder: what users have deployed does not change"


def _digest(folder: Path) -> str:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    listing = [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return hashlib.sha256("\n".join(listing).encode()).hexdigest()


def test_updates_from_released_versions_do_what_the_changelog_names(today: Stacks, tmp_path: Path) -> None:
    if found := problems(GOLDEN, changelog=CHANGELOG, today=today, folder=tmp_path):
        pytest.fail("\n".join(found))


def _changelog(*words: str) -> str:
    lines = "\n".join(f"- `{word}`: copy your files before." for word in words)
    return (
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- `replace:A/B`: is no resource change.\n\n"
        f"### Resource changes\n\n{lines}\n\n## [0.1.0]\n\n### Resource changes\n\n- `replace:C/D`: old.\n"
    )


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A rollout and an app of today, as if they had been released as 0.1.0."""
    (tmp_path / "golden").mkdir()
    freeze("0.1.0", golden=tmp_path / "golden", declared="0.1.0")
    for path in (tmp_path / "golden/0.1.0").iterdir():
        if not path.name.startswith(("quickstart.yaml", "node-image.py")):
            path.unlink()
    return tmp_path / "golden"


def _edit(golden: Path, name: str, edit: Edit) -> None:
    """Make the released version another one than today's."""
    path = templates_of(golden / "0.1.0", name)
    stacks = json.loads(path.read_text("utf-8"))
    edit(stacks)
    path.write_text(json.dumps(stacks), encoding="utf-8")


def _resources(stacks: dict[str, Any], stack: str) -> dict[str, Any]:
    found: dict[str, Any] = stacks[stack]["template"]["Resources"]
    return found


def _judged(golden: Path, today: Stacks, *words: str) -> list[str]:
    changelog = _changelog(*words)
    return problems(golden, changelog=changelog, today=today, folder=golden.parent / "assemblies")


def test_the_same_templates_need_no_word(golden: Path, today: Stacks) -> None:
    assert _judged(golden, today) == []
    assert _judged(golden, today, "replace:*/*") == [
        "nothing does what the changelog names under Resource changes: replace:*/*"
    ]


def test_a_setting_that_would_replace_data_must_be_named(golden: Path, today: Stacks) -> None:
    _edit(
        golden,
        "quickstart.yaml",
        lambda stacks: _resources(stacks, STORAGE)[FILE_SYSTEM]["Properties"]["LustreConfiguration"].update(
            DeploymentType="PERSISTENT_1"
        ),
    )

    found = _judged(golden, today)

    assert any(f"replace:{STORAGE}/{FILE_SYSTEM}" in each for each in found)
    # FSx refuses a second link of the same folder, which no word can allow.
    left = _judged(golden, today, "replace:*-Storage/FileSystem*", "replace:*-Cluster/*Environment*")
    assert left
    assert all("cannot be named" in each for each in left)


def test_what_goes_must_be_named_also_where_it_holds_nothing(golden: Path, today: Stacks) -> None:
    def edit(stacks: dict[str, Any]) -> None:
        _resources(stacks, STORAGE)["Gone"] = {"Type": "AWS::SNS::Topic", "Properties": {}}

    _edit(golden, "quickstart.yaml", edit)

    (said,) = _judged(golden, today)
    assert said.endswith(f"name it under Resource changes: remove:{STORAGE}/Gone")
    assert _judged(golden, today, f"remove:{STORAGE}/Gone") == []


def test_weaker_protection_and_stacks_that_are_left_must_be_named(golden: Path, today: Stacks) -> None:
    def edit(stacks: dict[str, Any]) -> None:
        topic = {"Type": "AWS::SNS::Topic", "Properties": {}, "DeletionPolicy": "Retain"}
        stacks["Old"] = {"cluster": "", "region": "us-east-2", "template": {"Resources": {"Topic": topic}}}
        (policy,) = (
            each
            for each in _resources(stacks, "quickstart-us-east-2-Network").values()
            if each["Type"] == "AWS::EC2::RouteTable"
        )
        policy["DeletionPolicy"] = "Retain"

    _edit(golden, "quickstart.yaml", edit)

    said = " ".join(_judged(golden, today))
    assert "remove:Old/*" in said
    assert "its DeletionPolicy changes from Retain to Delete" in said


def test_an_update_in_place_needs_no_word(golden: Path, today: Stacks) -> None:
    _edit(
        golden,
        "quickstart.yaml",
        lambda stacks: _resources(stacks, STORAGE)[FILE_SYSTEM]["Properties"].update(StorageCapacity=2400),
    )

    assert _judged(golden, today) == []


def test_a_configuration_of_a_released_version_is_synthesized_by_todays_code(
    golden: Path, today: Stacks
) -> None:
    source = golden / "0.1.0" / "node-image.py"
    source.write_text(source.read_text().replace('"nodes"', '"older-nodes"'))

    assert any("replace:NodeImage/" in each for each in _judged(golden, today))


def test_a_configuration_that_no_longer_loads_is_not_released(golden: Path, today: Stacks) -> None:
    source = golden / "0.1.0" / "quickstart.yaml"
    source.write_text(source.read_text().replace("zone_id", "zone"))

    with pytest.raises(ValueError, match="UC1"):
        _judged(golden, today)


def test_what_was_released_is_frozen_once_and_as_what_it_is(tmp_path: Path) -> None:
    freeze("0.1.0", golden=tmp_path, declared="0.1.0")

    assert configurations(tmp_path / "0.1.0").keys() == configurations(NEXT).keys()
    with pytest.raises(SystemExit, match="kept already"):
        freeze("0.1.0", golden=tmp_path, declared="0.1.0")
    with pytest.raises(SystemExit, match=r"this is 0\.1\.0"):
        freeze("0.2.0", golden=tmp_path, declared="0.1.0")


def test_versions_are_ordered_by_number(tmp_path: Path) -> None:
    for name in ("0.10.0", "0.9.1", "next"):
        (tmp_path / name).mkdir()

    assert [path.name for path in released(tmp_path)] == ["0.9.1", "0.10.0"]


# The changelog


def test_words_are_those_of_resource_changes_since_a_version() -> None:
    text = _changelog("replace:A*/B*", "change:X/Y")

    assert named_since(text, "0.1.0") == ["replace:A*/B*", "change:X/Y"]
    assert named_since(text, None) == ["replace:A*/B*", "change:X/Y"]
    assert named_since(text + "\n## [0.0.1]\n", "0.0.1")[-1] == "replace:C/D"
