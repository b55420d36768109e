"""A child process and its children end with this process, however it ends."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli._cdk.staying_processes import STAYING, all_gone, python

from ultracluster_cli._cdk.child_process import run_captured

pytestmark = pytest.mark.slow


def test_gives_lines_and_exit_code_and_keeps_a_log(
    logged: Callable[..., tuple[int, list[str]]], tmp_path: Path
) -> None:
    code, lines = logged("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert code == 3
    assert sorted(lines) == ["err", "out"]
    assert sorted((tmp_path / "log").read_text().splitlines()) == ["err", "out"]


def test_the_command_does_not_inherit_stdin(logged: Callable[..., tuple[int, list[str]]]) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"an answer\n")
    ours = os.dup(0)
    os.dup2(reading, 0)
    try:
        code, lines = logged("print(input())")
    finally:
        os.dup2(ours, 0)
        for descriptor in (reading, writing, ours):
            os.close(descriptor)

    assert code == 1
    assert "an answer" not in lines


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_a_failure_of_ours_ends_the_command_and_its_children(
    logged: Callable[..., tuple[int, list[str]]], failure: type[BaseException]
) -> None:
    pids: list[int] = []

    def fail(line: str) -> None:
        pids.extend(map(int, line.split()))
        raise failure

    began = time.monotonic()

    with pytest.raises(failure):
        logged(STAYING, fail)

    assert time.monotonic() - began < 30  # of the 60 s that it would stay
    assert len(pids) == 2
    assert all_gone(pids)


def test_captured_outputs_are_separate(tmp_path: Path) -> None:
    code = "import os, sys; print('out', os.getcwd()); print('err', file=sys.stderr); sys.exit(3)"

    done = run_captured(python(code), directory=tmp_path, environment=dict(os.environ))

    assert (done.returncode, done.stdout, done.stderr) == (3, f"out {tmp_path}\n", "err\n")
