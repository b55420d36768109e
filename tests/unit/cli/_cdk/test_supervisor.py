"""A command ends with the process that started it, even if that process is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli._cdk.staying_processes import STAYING, alive, all_gone, python

from ultracluster_cli._cdk import supervisor

pytestmark = pytest.mark.slow


def test_a_signal_leads_to_the_exit_code_of_shells(
    logged: Callable[..., tuple[int, list[str]]],
) -> None:
    assert logged("import os; os.kill(os.getpid(), 9)")[0] == 128 + signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(
    "run", ["run_captured({})", 'run_logged({}, log=pathlib.Path("log"), on_line=lambda _: None)']
)
def test_our_death_ends_the_command_and_its_children(
    tmp_path: Path, run: str, number: signal.Signals
) -> None:
    staying = STAYING.replace("flush=True", "flush=True, file=open('pids', 'w')")
    command = f"{python(staying)!r}, directory=pathlib.Path('.'), environment=dict(os.environ)"
    ours = f"""
import os, pathlib
from ultracluster_cli._cdk.child_process import run_captured, run_logged
{run.format(command)}
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


@pytest.mark.parametrize(
    ("ends", "code"), [("sys.exit(0)", 0), ("sys.exit(1)", 1), ("os.kill(os.getpid(), 9)", 137)]
)
def test_the_exit_code_is_that_of_the_command(ends: str, code: int) -> None:
    reading, writing = os.pipe()
    try:
        command = [*python(f"import os, sys; {ends}")]
        supervised = [sys.executable, supervisor.__file__, str(reading), *command]
        ended = subprocess.run(
            supervised, pass_fds=[reading], start_new_session=True, check=False, timeout=60
        )
    finally:
        os.close(writing)
        os.close(reading)
    assert ended.returncode == code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_handles_a_signal_of_its_group_is_waited_for(number: signal.Signals) -> None:
    """The CDK CLI removes its locks before it ends."""
    handles = f"""
import signal, sys, time
def handle(*_):
    time.sleep(0.2)
    sys.exit(7)
signal.signal({int(number)}, handle)
print("ready", flush=True)
time.sleep(60)
"""
    reading, writing = os.pipe()
    try:
        supervised = [sys.executable, supervisor.__file__, str(reading), *python(handles)]
        with subprocess.Popen(
            supervised, pass_fds=[reading], start_new_session=True, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            os.killpg(process.pid, number)
            code = process.wait(timeout=10)
    finally:
        os.close(writing)
        os.close(reading)
    assert code == 7
