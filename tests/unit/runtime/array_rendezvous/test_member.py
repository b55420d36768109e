"""Arrays of real processes, which meet in a folder."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ultracluster_runtime.array_rendezvous.member import _Member, run_member
from ultracluster_runtime.array_rendezvous.places import Folder
from ultracluster_runtime.array_rendezvous.rendezvous import Child, Read, Settings, Start, Unavailable, Wait

pytestmark = pytest.mark.slow

RECORD = "import pathlib, sys, time; pathlib.Path(sys.argv[1], 'ran', sys.argv[2] + '-' + sys.argv[3]).write_text(sys.argv[4]); {}"


def start(place: Path, size: int, attempt: int, then: str) -> list[subprocess.Popen[str]]:
    (place / "ran").mkdir(exist_ok=True)
    program = [sys.executable, "-c", RECORD.format(then), str(place)]
    return [
        subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__).with_name("one_child.py")),
                str(place),
                str(index),
                str(size),
                str(attempt),
                *program,
            ],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for index in range(size)
    ]


def results(children: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    ended = [(one.communicate(timeout=60)[0].strip(), one.returncode) for one in children]
    return [(code, reason) for reason, code in ended]


def ran(place: Path, generation: int, size: int) -> list[str]:
    return [(place / "ran" / f"{index}-{generation}").read_text() for index in range(size)]


def wait_for(place: Path, generation: int, size: int) -> None:
    deadline = time.monotonic() + 30
    while len(list((place / "ran").glob(f"*-{generation}"))) < size:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_children_run_with_the_same_addresses_and_succeed_together(tmp_path: Path) -> None:
    children = start(tmp_path, 4, 1, "time.sleep(0.2)")
    assert results(children) == [(0, "all children succeeded")] * 4
    assert ran(tmp_path, 1, 4) == ["10.0.1.0,10.0.1.1,10.0.1.2,10.0.1.3"] * 4


@pytest.mark.parametrize("lost", [0, pytest.param(2, marks=pytest.mark.deep)])
def test_a_killed_child_ends_all_and_the_next_generation_succeeds(tmp_path: Path, lost: int) -> None:
    children = start(tmp_path, 4, 1, "time.sleep(0.5 if sys.argv[3] == '2' else 60)")
    wait_for(tmp_path, 1, 4)
    os.killpg(children[lost].pid, signal.SIGKILL)  # with its program, as a host is lost
    survivors = [one for index, one in enumerate(children) if index != lost]
    assert {code for code, _ in results(survivors)} == {112}
    children[lost].communicate(timeout=10)
    again = start(tmp_path, 4, 2, "time.sleep(0.5)")
    assert results(again) == [(0, "all children succeeded")] * 4
    assert ran(tmp_path, 2, 4) == ["10.0.2.0,10.0.2.1,10.0.2.2,10.0.2.3"] * 4


def test_a_program_that_fails_ends_the_job_with_its_name(tmp_path: Path) -> None:
    children = start(tmp_path, 3, 1, "sys.exit(3) if sys.argv[2] == '1' else time.sleep(60)")
    assert results(children) == [(1, "the program of child 1 ended with exit code 3")] * 3


class _Stuck:
    """A place that stops answering, as a file system that fails over does."""

    def __getattr__(self, name: str) -> object:
        return lambda *_: threading.Event().wait()


def test_a_place_that_never_answers_ends_a_child() -> None:
    child = Child(job="job", index=0, size=2, attempt=1, nonce="a", address="10.0.0.1")
    began = time.monotonic()
    outcome = run_member(child, Settings(poll=0.05, deadline=0.5, lease=0.5), _Stuck(), lambda _: ["true"])  # type: ignore[arg-type]
    assert outcome == ("failure", "the place of the rendezvous cannot be reached")
    assert time.monotonic() - began >= 0.5 + 0.5


def test_what_a_place_raises_is_no_answer(tmp_path: Path) -> None:
    member = _Member(Folder(tmp_path), Settings(), lambda _: ["true"])
    (tmp_path / "roster").mkdir()
    with pytest.raises(Unavailable, match="Is a directory"):
        member.perform(Read("roster"))


def test_a_program_that_is_too_late_is_not_started_and_not_reported_as_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    member = _Member(_Stuck(), Settings(), lambda _: ["touch", str(started)])  # type: ignore[arg-type]
    assert member.perform(Start(1, ("10.0.0.1",), before=time.monotonic())) is False
    member.stop()
    assert not started.exists()
    assert member.perform(Start(1, ("10.0.0.1",), before=time.monotonic() + 60)) is True
    assert member.perform(Wait(5))[1] == 0
    assert started.exists()
    member.stop()
