"""Python code that runs as a logged command."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli._cdk.staying_processes import python

from ultracluster_cli._cdk.child_process import run_logged


@pytest.fixture
def logged(tmp_path: Path) -> Callable[..., tuple[int, list[str]]]:
    """Run Python code logged; give its exit code and its lines."""

    def run(code: str, on_line: Callable[[str], None] | None = None) -> tuple[int, list[str]]:
        lines: list[str] = []
        exit_code = run_logged(
            python(code),
            directory=tmp_path,
            environment=dict(os.environ),
            log=tmp_path / "log",
            on_line=on_line or lines.append,
        )
        return exit_code, lines

    return run
