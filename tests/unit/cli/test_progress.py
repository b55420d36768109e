"""Steps are measured and shown on a terminal, and Ctrl-C says what was and was not done."""

import io
import sys
import time
from collections.abc import Callable

import pytest

from ultracluster_cli import progress
from ultracluster_cli.progress import (
    doing,
    durations,
    if_interrupted,
    interruption_note,
    measure,
    progress_line,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace stderr; not in a fixture, since pytest replaces it again before the test."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_POLL_SECONDS", 0.01)
    return terminal


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_silent_command_shows_what_it_does_until_it_writes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with progress_line("jobs list"):
        wait_for(lambda: "jobs list ... 0 s" in terminal.getvalue())
        with doing("Reading the queue"):
            wait_for(lambda: "Reading the queue ... 0 s" in terminal.getvalue())
        sys.stderr.write("done\n")

    # The line is erased before anything else is written.
    assert terminal.getvalue().endswith("\r\x1b[Kdone\n")


def test_a_prompt_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with progress_line("deploy"):
        sys.stderr.write("Deploy this? [y/N]: ")
        time.sleep(0.2)

    assert terminal.getvalue() == "Deploy this? [y/N]: "


def test_without_a_terminal_there_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    with progress_line("deploy"):
        time.sleep(0.05)

    assert stream.getvalue() == ""


def test_ctrl_c_says_what_was_and_was_not_done() -> None:
    def interrupt() -> None:
        with if_interrupted("The first stack stays."):
            raise KeyboardInterrupt

    with progress_line("deploy"), pytest.raises(KeyboardInterrupt):
        interrupt()
    assert interruption_note("deploy") == "Interrupted. The first stack stays."

    with progress_line("deploy"), if_interrupted("The first stack stays."):
        pass
    assert interruption_note("deploy") == "Interrupted."
    assert interruption_note("jobs list") == "Interrupted; nothing was changed."
    assert interruption_note("cost estimate") == "Interrupted; nothing was changed."


def test_a_step_that_fails_has_no_time() -> None:
    with progress_line("deploy"):
        with measure("good"):
            pass
        with pytest.raises(ValueError, match="bad"), measure("bad"):
            raise ValueError("bad")

    assert list(durations()) == ["good"]
    assert durations()["good"] >= 0


def test_a_command_begins_without_the_steps_of_the_one_before() -> None:
    for step in ("first", "second"):
        with progress_line("deploy"), measure(step):
            pass

    assert list(durations()) == ["second"]


def test_the_seconds_of_a_repeated_step_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 2.0, 10.0, 15.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    with progress_line("deploy"):
        for _ in range(2):
            with measure("again"):
                pass

    assert durations() == {"again": 7.0}
