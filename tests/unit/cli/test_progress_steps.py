"""Steps are measured."""

import time

import pytest

from ultracluster_cli.progress import measure


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
