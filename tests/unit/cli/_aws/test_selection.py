"""Clusters of a rollout are selected by wave or by name."""

from pathlib import Path

import pytest

from ultracluster_cli._aws.selection import clusters_named, clusters_of
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.rollout import Rollout
from ultracluster_stacks.config import load_rollout


@pytest.fixture
def waves(quickstart: Path) -> Rollout:
    return load_rollout(quickstart.with_name("two-waves.yaml")).config


def test_without_a_wave_all_clusters_are_selected(waves: Rollout) -> None:
    assert [cluster.name for cluster in clusters_of(waves, None)] == ["canary", "pretrain", "finetune"]
    assert [cluster.name for cluster in clusters_of(waves, "canary")] == ["canary"]


def test_an_unknown_wave_is_refused_with_the_known_ones(waves: Rollout) -> None:
    with pytest.raises(FindingsError, match=r"^error: .*'last'.* Allowed: canary, production"):
        clusters_of(waves, "last")


def test_clusters_are_selected_by_name_in_the_order_of_the_rollout(waves: Rollout) -> None:
    clusters = clusters_of(waves, None)

    assert clusters_named(clusters, [], rollout=Path("r.yaml")) == clusters
    assert [
        cluster.name for cluster in clusters_named(clusters, ["finetune", "canary"], rollout=Path("r.yaml"))
    ] == ["canary", "finetune"]


def test_each_unknown_name_is_a_finding(waves: Rollout) -> None:
    with pytest.raises(FindingsError) as refused:
        clusters_named(clusters_of(waves, None), ["nobody", "canary", "no one"], rollout=Path("r.yaml"))

    assert [(finding.code, finding.location) for finding in refused.value.findings] == [
        ("UC2201", "r.yaml"),
        ("UC2201", "r.yaml"),
    ]
