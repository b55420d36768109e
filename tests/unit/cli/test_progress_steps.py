"""Steps are measured, and reported when they end."""

import time

import pytest

from ultracluster_cli.progress import measure, measure_and_report


def test_a_step_that_fails_has_no_time() -> None:
    steps: dict[str, float] = {}
    with measure(steps, "good"):
        pass
    with pytest.raises(ValueError, match="bad"), measure(steps, "bad"):
        raise ValueError("bad")

    assert list(steps) == ["good"]
    assert steps["good"] >= 0


def test_the_seconds_of_a_repeated_step_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 2.0, 10.0, 15.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    steps: dict[str, float] = {}
    for _ in range(2):
        with measure(steps, "again"):
            pass

    assert steps == {"again": 7.0}


def test_the_messages_of_a_step_are_printed_with_its_duration(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter([0.0, 0.0, 2.0, 2.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    steps = {"step": 40.0}
    with measure_and_report(steps, "step") as messages:
        messages += ["one thing", "another"]

    assert steps == {"step": 42.0}
    assert capsys.readouterr().err == "one thing; another (2.0 s)\n"


def test_a_failed_step_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="bad"), measure_and_report({}, "step"):
        raise ValueError("bad")

    assert capsys.readouterr().err == ""
