"""A child process and its children end with this process, however it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_cli._cdk.child_process import run_captured, run_in_terminal, run_logged

pytestmark = pytest.mark.process

# Writes the ids of itself and of a child of its own, then stays.
STAYING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def all_gone(pids: list[int]) -> bool:
    """Whether all processes end within a few seconds."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it went meanwhile, or this machine has no /proc
        return not Path("/proc").exists()
    return status.rpartition(")")[2].split()[0] != "Z"  # a zombie that nobody has waited for is gone, too


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


def test_gives_lines_and_exit_code_and_keeps_a_log(
    logged: Callable[..., tuple[int, list[str]]], tmp_path: Path
) -> None:
    code, lines = logged("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert code == 3
    assert sorted(lines) == ["err", "out"]
    assert sorted((tmp_path / "log").read_text().splitlines()) == ["err", "out"]


def test_a_signal_gives_the_exit_code_that_shells_report(
    logged: Callable[..., tuple[int, list[str]]],
) -> None:
    assert logged("import os; os.kill(os.getpid(), 9)")[0] == 128 + signal.SIGKILL


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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_our_death_ends_the_command_and_its_children(tmp_path: Path, number: signal.Signals) -> None:
    ours = f"""
import os, pathlib
from ultracluster_cli._cdk.child_process import run_logged
run_logged({python(STAYING)!r}, directory=pathlib.Path("."), environment=dict(os.environ),
           log=pathlib.Path("log"), on_line=lambda line: print(line, flush=True))
"""
    with subprocess.Popen(python(ours), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert all(alive(pid) for pid in pids)

        process.send_signal(number)

    assert len(pids) == 2
    assert all_gone(pids)


def test_a_command_at_the_terminal_ends_with_us(tmp_path: Path) -> None:
    ours = f"""
import os, pathlib
from ultracluster_cli._cdk.child_process import run_in_terminal
run_in_terminal({python("import os, time; print(os.getpid(), flush=True); time.sleep(60)")!r},
                directory=pathlib.Path("."), environment=dict(os.environ))
"""
    with subprocess.Popen(python(ours), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())

        process.kill()

    assert all_gone([pid])


def test_a_command_at_the_terminal_gives_its_exit_code(tmp_path: Path) -> None:
    code = run_in_terminal(python("raise SystemExit(5)"), directory=tmp_path, environment=dict(os.environ))

    assert code == 5


def test_captured_outputs_are_separate(tmp_path: Path) -> None:
    code = "import os, sys; print('out', os.getcwd()); print('err', file=sys.stderr); sys.exit(3)"

    done = run_captured(python(code), directory=tmp_path, environment=dict(os.environ))

    assert (done.returncode, done.stdout, done.stderr) == (3, f"out {tmp_path}\n", "err\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_our_death_ends_a_captured_command_and_its_children(tmp_path: Path, number: signal.Signals) -> None:
    staying = STAYING.replace("flush=True", "flush=True, file=open('pids', 'w')")
    ours = f"""
import os, pathlib
from ultracluster_cli._cdk.child_process import run_captured
run_captured({python(staying)!r}, directory=pathlib.Path("."), environment=dict(os.environ))
"""
    with subprocess.Popen(python(ours), cwd=tmp_path) as process:
        deadline = time.monotonic() + 10
        while not (tmp_path / "pids").exists() or not (tmp_path / "pids").read_text().endswith("\n"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        assert all(alive(pid) for pid in pids)

        process.send_signal(number)

    assert len(pids) == 2
    assert all_gone(pids)
