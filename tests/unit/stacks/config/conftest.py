"""A valid rollout, and fixtures that edit and load it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_cli.records import ALL_RECORDS
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.record import is_error
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


@pytest.fixture
def refused(findings: Callable[..., list[Finding]]) -> Callable[..., None]:
    """Check that an edit is refused once with a code, at a place of the rollout, with words that the message contains."""

    def refused(old: str, new: str, code: str, path: str, part: str) -> None:
        found = findings((old, new))

        matching = [finding for finding in found if finding.code == code]
        assert [finding.path for finding in matching] == [path], found
        assert part in str(matching[0])
        assert matching[0].location.startswith("rollout.yaml:")

    return refused


@pytest.fixture
def refused_at(findings: Callable[..., list[Finding]]) -> Callable[[list[Edit], str, str | None], None]:
    """Check that edits are refused with a code, at a place of the one cluster, or anywhere if it is None."""

    def refused_at(edits: list[Edit], code: str, path: str | None) -> None:
        found = findings(*edits)
        matching = [finding for finding in found if finding.code == code]
        assert matching, found
        if path is not None:
            assert [finding.path for finding in matching] == [f"waves[0].clusters[0].{path}"]
            assert matching[0].location.startswith("rollout.yaml:")

    return refused_at


@pytest.fixture
def accepted(findings: Callable[..., list[Finding]]) -> Callable[[list[Edit], str], None]:
    """Check that edits break neither a rule nor anything else that is an error."""

    def accepted(edits: list[Edit], code: str) -> None:
        found = findings(*edits)

        assert code not in {finding.code for finding in found}
        assert not [finding for finding in found if is_error(finding, ALL_RECORDS)], found

    return accepted
