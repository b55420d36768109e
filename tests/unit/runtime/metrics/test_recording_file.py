"""Recordings are written and read back, or refused with the reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.metrics.recordings import day, recording, series

from ultracluster_runtime.metrics.recording_file import read_recording, write_recording
from ultracluster_spec.findings import FindingsError


def test_recording_survives_a_round_trip(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    write_recording(day(), first)
    recorded = read_recording(first)
    write_recording(recorded, second)
    assert recorded == day()
    assert first.read_bytes() == second.read_bytes()


def _without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.pop(key) and None


def _with(value: Any, path: tuple[Any, ...]) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_with(2, ("version",)), "version 2; this command reads"),
        (_without("cluster"), "'cluster' is missing"),
        (_with("2026-11-20T00:00:00", ("start",)), "has no time zone"),
        (_with("2026-11-19T00:00:00Z", ("end",)), "ends before it starts"),
        (_with(0, ("period_seconds",)), "its period is not positive"),
        (_with("much", ("series", 0, "points", 0, 1)), "'much' is not a number"),
        (_with(value=True, path=("series", 0, "points", 0, 1)), "True is not a number"),
        (_with(float("nan"), ("series", 0, "points", 0, 1)), "NaN is not a number"),
        (_with("2026-11-20T23:00:00Z", ("series", 0, "points", 0, 0)), "not in chronological order"),
        (_with([[1, 2, 3]], ("series", 0, "points")), ""),
        (_with(None, ("series",)), ""),
    ],
)
def test_refuses_an_invalid_recording(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    path = tmp_path / "recording.json"
    write_recording(recording(series("Loss", "Average", [1.0, 2.0])), path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(FindingsError, match="is not a recording of metrics") as raised:
        read_recording(path)
    assert said in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "1", '"x"'])
def test_refuses_a_file_of_another_kind(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recording.json"
    path.write_text(text)
    with pytest.raises(FindingsError, match="is not a recording of metrics"):
        read_recording(path)


def test_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match="No such file"):
        read_recording(tmp_path / "none.json")
