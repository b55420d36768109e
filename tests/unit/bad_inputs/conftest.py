"""How the command line reacts to a rollout file."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.bad_inputs.rows import CLUSTER

from ultracluster_cli.main import main

_LINE = re.compile(r"(?:warning: )?(UC[0-9]{4}): (\S+?): (?:((?:[a-z_]+|\[)[^ ]*): )?.+[.?]")

_VALID = "rollout.yaml is valid."

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
        return exit_code, tuple(_short(line) for line in lines if line != _VALID)

    return reaction


def _short(line: str) -> str:
    found = _LINE.fullmatch(line)
    assert found, line
    code, location, path = found.groups()
    return " ".join(filter(None, (code, location.removeprefix("rollout.yaml").lstrip(":"), path))).replace(
        CLUSTER, "@"
    )
