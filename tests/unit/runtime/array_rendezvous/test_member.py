"""What a child performs for its rendezvous, and when it gives up; test_child.py has arrays of real processes."""

import threading
import time
from pathlib import Path

import pytest

from ultracluster_runtime.array_rendezvous.member import _Member, run_member
from ultracluster_runtime.array_rendezvous.places import Folder
from ultracluster_runtime.array_rendezvous.rendezvous import Child, Read, Settings, Start, Unavailable, Wait

pytestmark = pytest.mark.slow


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
