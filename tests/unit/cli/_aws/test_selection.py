"""Clusters of a rollout are selected by wave or by name."""

from pathlib import Path

import pytest

from ultracluster_cli._aws.selection import clusters_named, clusters_of, locate, shift_to_project
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

    assert [(finding.problem, finding.location) for finding in refused.value.findings] == [
        ("unknown cluster 'nobody'", "r.yaml"),
        ("unknown cluster 'no one'", "r.yaml"),
    ]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("pretrain", "quickstart pretrain"),
        ("unknown", "quickstart unknown"),
        ("pretrain python3 train.py", "quickstart pretrain python3 train.py"),
        ("quickstart pretrain", "quickstart pretrain"),
        ("another pretrain", "another pretrain"),
        ("pretrain pretrain", "pretrain pretrain"),
        ("quickstart", "quickstart"),
    ],
)
def test_the_only_cluster_of_a_project_need_not_be_named(
    typed: str, meant: str, quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shift_to_project(typed.split()) == typed.split()  # outside of a project

    (tmp_path / "cdk.json").write_text('{"context": {"rollout": "rollout.yaml"}}')
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    assert shift_to_project(typed.split()) == meant.split()


def test_several_clusters_have_to_be_named(
    quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cdk.json").write_text('{"context": {"rollout": "rollout.yaml"}}')
    (tmp_path / "rollout.yaml").write_text(quickstart.with_name("two-waves.yaml").read_text())
    assert shift_to_project(["pretrain"]) == ["pretrain"]
    with pytest.raises(FindingsError, match=r"got 3 clusters\. Allowed: canary in us-east-1, pretrain in"):
        locate(None, None)
    with pytest.raises(FindingsError, match=r"got none, and the project has no cluster in eu-west-1\."):
        locate(None, "eu-west-1")
