"""A valid rollout, and fixtures that edit and load it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_stacks.config import LoadedRollout, load_rollout

VALID = """\
version: 1
defaults:
  image_id: ami-0123456789abcdef0
  tags: {team: research}
waves:
  - name: first
    clusters:
      - name: train
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 4
        capacity:
          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
          start: "2026-12-01T12:00:00Z"
          end: "2026-12-04T11:30:00Z"
        network: {cidr: 10.0.0.0/16}
        file_system: {storage_capacity_gib: 4800, per_unit_storage_throughput: 250}
        jobs:
          - name: pretrain
            image: 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20
            command: [train.py]
            environment: {NEURON_RT_LOG_LEVEL: INFO}
        notify: [ml@example.com]
"""
Edit = tuple[str, str]


@pytest.fixture
def valid() -> str:
    """The text of a rollout without errors and without warnings."""
    return VALID


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | bytes], Path]:
    """Write a rollout file and give its path, relative to the working directory."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> Path:
        path = Path("rollout.yaml")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def load(write: Callable[[str | bytes], Path]) -> Callable[..., LoadedRollout]:
    """Load the valid rollout after edits, each of which must find what it replaces."""

    def load(*edits: Edit, text: str = VALID) -> LoadedRollout:
        for old, new in edits:
            assert old in text, f"{old!r} is not in the rollout"
            text = text.replace(old, new, 1)
        return load_rollout(write(text))

    return load


@pytest.fixture
def findings(load: Callable[..., LoadedRollout]) -> Callable[..., list[Finding]]:
    """What is found in the valid rollout after edits: of an error, or the warnings."""

    def findings(*edits: Edit, text: str = VALID) -> list[Finding]:
        try:
            return list(load(*edits, text=text).warnings)
        except FindingsError as error:
            return list(error.findings)

    return findings
