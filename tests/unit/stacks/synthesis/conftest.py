"""An app whose CDK is a stand-in."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.unit.stacks.synthesis.stand_in import (
    Synthesized,
    cluster_named,
    write_assembly,
)

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis import app as synthesis


@pytest.fixture
def synthesized(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Synthesized:
    """Names of the clusters that the CDK was asked for, call by call."""
    asked: Synthesized = []

    def stand_in(clusters: Sequence[Cluster], directory: Path | None) -> Path:
        asked.append([each.name for each in clusters])
        directory = directory or tmp_path / "by-default"
        write_assembly(clusters, directory)
        return directory

    monkeypatch.setattr(synthesis, "_synthesize_in_process", stand_in)
    return asked


@pytest.fixture
def clusters(tmp_path: Path) -> Callable[..., list[Cluster]]:
    def read(**nodes: int) -> list[Cluster]:
        rollout = tmp_path / "rollout.yaml"
        rollout.write_text(
            json.dumps(
                {
                    "version": 1,
                    "waves": [{"name": "only", "clusters": [cluster_named(*each) for each in nodes.items()]}],
                }
            )
        )
        return list(load_rollout(rollout).config.waves[0].clusters)

    return read


@pytest.fixture
def rollout(clusters: Callable[..., list[Cluster]]) -> None:
    """A rollout file of one cluster."""
    clusters(aa=1)
