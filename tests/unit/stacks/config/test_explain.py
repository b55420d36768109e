from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.stacks.config.conftest import VALID

from ultracluster_spec.findings import FindingsError
from ultracluster_spec.values import fields_of
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.explain import ExplainedValue, explain_rollout

TEXT = (
    VALID.replace(
        "tags: {team: research}",
        "tags: {team: research, owner: us}\n  file_system: {per_unit_storage_throughput: 500}",
    )
    .replace("        network:", "        tags: {owner: them}\n        network:")
    .replace(", per_unit_storage_throughput: 250", "")
)


@pytest.fixture
def values(write: Callable[[str], Path]) -> dict[str, ExplainedValue]:
    (cluster,) = explain_rollout(write(TEXT))
    assert (cluster.wave, cluster.name, cluster.region) == ("first", "train", "us-east-2")
    return {value.path: value for value in cluster.values}


def line(text: str) -> str:
    return f"rollout.yaml:{next(n for n, one in enumerate(TEXT.splitlines(), 1) if text in one)}"


@pytest.mark.parametrize(
    ("path", "value", "given_by", "where"),
    [
        ("nodes", 4, "cluster", "nodes: 4"),
        ("image_id", "ami-0123456789abcdef0", "defaults", "image_id:"),
        ("tags.team", "research", "defaults", "team: research"),
        ("tags.owner", "them", "cluster", "owner: them"),
        ("file_system.storage_capacity_gib", 4800, "cluster", "storage_capacity_gib:"),
        ("file_system.per_unit_storage_throughput", 500, "defaults", "per_unit_storage_throughput:"),
        ("file_system.data_compression", True, "built in", None),
        ("network.cidr", "10.0.0.0/16", "cluster", "cidr:"),
        ("jobs[0].command", ["train.py"], "cluster", "command:"),
        ("jobs[0].environment.NEURON_RT_LOG_LEVEL", "INFO", "cluster", "NEURON_RT_LOG_LEVEL"),
    ],
)
def test_shows_where_a_value_comes_from(
    values: dict[str, ExplainedValue], path: str, value: object, given_by: str, where: str | None
) -> None:
    found = values[path]

    assert (found.value, found.given_by) == (value, given_by)
    assert found.location == (line(where) if where else "")


def test_says_in_words_what_is_decided_later(values: dict[str, ExplainedValue]) -> None:
    assert values["account"].value is None
    assert values["account"].note == "the account of the credentials"
    assert values["nodes"].note == ""


def test_names_every_value_of_the_cluster(
    values: dict[str, ExplainedValue], write: Callable[[str], Path]
) -> None:
    (wave,) = load_rollout(write(TEXT)).config.waves
    top = {path.partition(".")[0].partition("[")[0] for path in values}

    assert top == fields_of(type(wave.clusters[0])).keys()


def test_a_wrong_file_is_refused_as_always(write: Callable[[str], Path]) -> None:
    with pytest.raises(FindingsError, match="UC4101"):
        explain_rollout(write(TEXT.replace("nodes: 4", "nodes: 0")))
