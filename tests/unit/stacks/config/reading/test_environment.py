"""Environment files: a base, and what differs in one environment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.config.conftest import VALID

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.editing import cluster_images, load_editable
from ultracluster_stacks.config.explain import explain_rollout
from ultracluster_stacks.config.schema import rollout_schema

PROD = """\
version: 1
base: rollout.yaml
defaults:
  account: "123456789012"
  tags: {stage: prod}
clusters:
  train:
    nodes: 8
    jobs: []
    file_system: {storage_capacity_gib: 9600}
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    monkeypatch.chdir(tmp_path)

    def write(text: str = PROD, *, base: str = VALID) -> Path:
        Path("rollout.yaml").write_text(base)
        Path("prod.yaml").write_text(text)
        return Path("prod.yaml")

    return write


def cluster(path: Path) -> Cluster:
    return load_rollout(path).config.waves[0].clusters[0]


def findings(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(FindingsError) as refused:
        load_rollout(path)
    return [(each.code, each.location) for each in refused.value.findings]


def test_what_differs_is_laid_over_the_base(write: Callable[..., Path]) -> None:
    prod, base = cluster(write()), cluster(Path("rollout.yaml"))

    assert (prod.nodes, prod.jobs, prod.account) == (8, (), "123456789012")
    assert prod.tags == {"team": "research", "stage": "prod"}
    assert prod.file_system.storage_capacity_gib == 9600
    # All else is that of the base, also beside what was changed.
    assert prod.file_system.per_unit_storage_throughput == base.file_system.per_unit_storage_throughput
    assert prod.capacity == base.capacity
    assert base.nodes == 4


def test_a_value_of_a_cluster_wins_over_the_defaults_of_the_environment(write: Callable[..., Path]) -> None:
    assert cluster(write("version: 1\nbase: rollout.yaml\ndefaults: {nodes: 64}\n")).nodes == 4


def test_a_mistake_is_shown_in_the_file_that_has_it(write: Callable[..., Path]) -> None:
    assert findings(write(PROD.replace("nodes: 8", "nodes: 0"))) == [("UC4101", "prod.yaml:8")]
    assert findings(write(base=VALID.replace("zone_id: use2-az3", "zone_id: use1-az3"))) == [
        ("UC3102", "rollout.yaml:10")
    ]
    assert findings(write(PROD.replace("{storage_capacity_gib: 9600}", "{storage: 9600}"))) == [
        ("UC1020", "prod.yaml:10")
    ]
    assert findings(write(PROD.replace("nodes: 8", "nodes: 010"))) == [("UC1013", "prod.yaml:8")]


def test_lines_of_what_is_replaced_are_gone(write: Callable[..., Path]) -> None:
    path = write(PROD.replace("jobs: []", "jobs: [{name: Other}]"))

    assert {location.split(":")[0] for _, location in findings(path)} == {"prod.yaml"}


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("base: rollout.yaml", "base: ../rollout.yaml", "UC2224", 2),
        ("base: rollout.yaml", "base: /rollout.yaml", "UC2224", 2),
        ("base: rollout.yaml", "base: 7", "UC2224", 2),
        ("base: rollout.yaml", "base: prod.yaml", "UC2225", 2),
        ("  train:", "  trian:", "UC2226", 7),
        ("clusters:", "waves:", "UC1020", 6),
        ("{stage: prod}\n", "{stage: prod}\nunknown: 1\n", "UC1020", 6),
        ('  account: "123456789012"\n  tags: {stage: prod}\n', "  [1]\n", "UC1022", 3),
    ],
)
def test_refuses_anything_but_an_environment_file(
    write: Callable[..., Path], old: str, new: str, code: str, line: int
) -> None:
    assert (code, f"prod.yaml:{line}") in findings(write(PROD.replace(old, new, 1)))


def test_a_base_outside_the_folder_is_refused_through_a_link_too(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    path = write()
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    Path("rollout.yaml").rename(outside)
    Path("rollout.yaml").symlink_to(outside)

    assert findings(path) == [("UC2224", "prod.yaml:2")]


def test_a_missing_base_is_named(write: Callable[..., Path]) -> None:
    path = write()
    Path("rollout.yaml").unlink()

    assert findings(path) == [("UC1001", "rollout.yaml")]


def test_a_version_is_required_in_each_file(write: Callable[..., Path]) -> None:
    assert ("UC1021", "prod.yaml:1") in findings(write(PROD.replace("version: 1\n", "")))


@pytest.mark.parametrize("read", [cluster_images, load_editable])
def test_commands_that_edit_a_rollout_require_the_file_with_the_clusters(
    write: Callable[..., Path], read: Callable[[Path], Any]
) -> None:
    with pytest.raises(FindingsError, match="UC2227"):
        read(write())
    read(Path("rollout.yaml"))


def test_explains_which_file_sets_a_value(write: Callable[..., Path]) -> None:
    (explained,) = explain_rollout(write())
    places = {value.path: (value.given_by, value.location) for value in explained.values}

    assert places["nodes"] == ("cluster", "prod.yaml:8")
    assert places["account"] == ("defaults", "prod.yaml:4")
    assert places["tags.team"] == ("defaults", "rollout.yaml:4")
    assert places["file_system.per_unit_storage_throughput"] == ("cluster", "rollout.yaml:19")


def test_the_schema_takes_environment_files() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    validator = jsonschema.Draft202012Validator(rollout_schema())

    validator.validate(yaml.safe_load(PROD))
    for wrong in (
        PROD.replace("nodes", "noeds"),
        PROD.replace("base: rollout.yaml\n", ""),
        PROD + "waves: []\n",
    ):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(yaml.safe_load(wrong))
