"""Checks run on the account of each cluster."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ultracluster_stacks.config import load_rollout


def test_takes_the_clusters_that_are_named(
    run: Callable[..., Any], asked: Mapping[str, Any], quickstart: Path
) -> None:
    waves = quickstart.with_name("two-waves.yaml")
    everything = [c.name for wave in load_rollout(waves).config.waves for c in wave.clusters]
    first = load_rollout(waves).config.waves[0]
    assert run("preflight", str(waves)).code == 0
    assert asked["clusters"] == everything
    assert run("preflight", str(waves), "--wave", first.name).code == 0
    assert asked["clusters"] == [cluster.name for cluster in first.clusters]
    assert run("preflight", str(waves), "--cluster", everything[-1]).code == 0
    assert asked["clusters"] == everything[-1:]


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--skip", "UC4001", "--skip", "UC9406", "--skip", "x"], ["error", "error"]),
        (["--skip", "UC9999"], ["error"]),
        (["--cluster", "nobody"], ["UC2201"]),
        (["--wave", "nobody"], ["error"]),
        (["--profile", "nobody"], ["UC9009"]),
    ],
)
def test_rejects_unknown_names_before_any_request(
    run: Callable[..., Any],
    asked: Mapping[str, Any],
    quickstart: Path,
    options: list[str],
    codes: list[str],
) -> None:
    outcome = run("preflight", str(quickstart), *options)
    assert outcome.code == 2
    assert [line.partition(":")[0] for line in outcome.stderr.splitlines()] == codes
    assert "clusters" not in asked


def test_each_account_is_checked_with_its_profile(
    run: Callable[..., Any], asked: Mapping[str, Any], tmp_path: Path, quickstart: Path
) -> None:
    text = quickstart.with_name("two-waves.yaml").read_text()
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(
        text.replace(
            "- name: pretrain\n        region", "- name: pretrain\n        profile: nobody\n        region"
        )
    )

    of_file = run("preflight", str(rollout))
    assert of_file.code == 2
    assert "UC9009" in of_file.stderr
    assert asked["clusters"] == ["canary", "finetune"]
    assert run("preflight", str(rollout), "--cluster", "canary").code == 0
