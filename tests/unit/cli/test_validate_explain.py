"""`ultracluster validate --explain` shows where values come from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

TWO_WAVES = Path(__file__).parents[3] / "stacks" / "rollouts" / "two-waves.yaml"

Run = Callable[..., Any]


def test_shows_where_a_value_comes_from(run: Run) -> None:
    outcome = run("validate", str(TWO_WAVES), "--explain", "--cluster", "pretrain")

    assert outcome.code == 0
    shown = {line.split()[0]: line for line in outcome.stdout.splitlines()}
    assert "9600" in shown["file_system.storage_capacity_gib"]
    assert "cluster" in shown["file_system.storage_capacity_gib"]
    assert "defaults" in shown["tags.team"]
    assert "two-waves.yaml:" in shown["tags.team"]
    assert "built in" in shown["network.nat_gateway"]
    assert "the account of the credentials" in shown["account"]
    assert "pretrain in us-east-2, wave production" in outcome.stdout


def test_json_has_all_clusters_unless_one_is_named(run: Run) -> None:
    told = json.loads(run("validate", str(TWO_WAVES), "--explain", "--json").stdout)
    one = json.loads(run("validate", str(TWO_WAVES), "--explain", "--cluster", "canary", "--json").stdout)

    assert [cluster["name"] for cluster in told["clusters"]] == ["canary", "pretrain", "finetune"]
    assert [cluster["name"] for cluster in one["clusters"]] == ["canary"]
    assert set(one["clusters"][0]["values"][0]) == {"path", "value", "given_by", "location", "note"}


def test_refuses_a_cluster_that_is_not_there(run: Run) -> None:
    outcome = run("validate", str(TWO_WAVES), "--explain", "--cluster", "pretrian")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC2201")
    assert "canary, pretrain, finetune" in outcome.stderr
