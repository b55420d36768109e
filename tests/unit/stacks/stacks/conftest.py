"""Configurations of clusters, from edits of a valid rollout."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.stacks.config.conftest import VALID

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Cluster]:
    """Read the cluster of the valid rollout with further lines, and with edits that each find what they replace."""

    def configured(*lines: str, **edits: str) -> Cluster:
        text = VALID.replace(
            "        jobs:\n", "".join(f"        {line}\n" for line in lines) + "        jobs:\n"
        )
        for old, new in edits.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "rollout.yaml"
        path.write_text(text)
        return load_rollout(path).config.waves[0].clusters[0]

    return configured
