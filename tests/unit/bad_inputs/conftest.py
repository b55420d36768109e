"""How the command line reacts to a rollout file."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.bad_inputs.rows import CLUSTER

from ultracluster_cli.main import main

_LINE = re.compile(r"(?:warning: )?(UC[0-9]{4}): (\S+?): (?:((?:[a-z_]+|\[)[^ ]*): )?.+[.?]")

_VALID = "rollout.yaml is valid."

_BY_BATCH = re.compile(r"UC4152 \d+ (@|waves\[0\]\.clusters\[\d\])\.capacity\.launched_by")
"""Told of every valid file whose block AWS Batch starts; tests/unit/spec/cluster_rules holds when."""

Reaction = tuple[int, tuple[str, ...]]


@pytest.fixture
def reaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Reaction]:
    """Validate a file, and give the exit code and every finding: code, line and place."""
    monkeypatch.chdir(tmp_path)

    def reaction(content: str | bytes, *, says: str = "") -> Reaction:
        before = set(tmp_path.iterdir())
        content = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        (tmp_path / "rollout.yaml").write_bytes(content)
        exit_code = main(["validate", "rollout.yaml"])
        said = capsys.readouterr()
        assert said.err.isascii()
        assert says in said.err
        assert not said.out or exit_code == 0
        assert set(tmp_path.iterdir()) - before <= {tmp_path / "rollout.yaml"}
        lines = said.err.splitlines()
        assert (_VALID in lines) is (exit_code == 0)
        found = [_short(line) for line in lines if line != _VALID]
        by_batch = [each for each in found if _BY_BATCH.fullmatch(each)]
        assert not (by_batch and exit_code)
        return exit_code, tuple(each for each in found if each not in by_batch)

    return reaction


def _short(line: str) -> str:
    found = _LINE.fullmatch(line)
    assert found, line
    code, location, path = found.groups()
    return " ".join(filter(None, (code, location.removeprefix("rollout.yaml").lstrip(":"), path))).replace(
        CLUSTER, "@"
    )
