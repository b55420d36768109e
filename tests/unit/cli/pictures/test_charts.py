"""Lines over time."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.cli.pictures.elements import problems_of, texts_of

from ultracluster_cli.pictures.charts import Event, Line, draw_chart

START = datetime(2026, 11, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def line(*values: float | None, label: str = "a line") -> Line:
    step = DAY / max(len(values), 1)
    return Line(
        label=label, points=tuple((START + number * step, value) for number, value in enumerate(values))
    )


def drawn(*lines: Line, events: tuple[Event, ...] = ()) -> str:
    return draw_chart("A chart of lines", lines, start=START, end=START + DAY, events=events).svg()


@pytest.mark.parametrize(
    "values",
    [(1.0,), (0.0, 0.0), (-5.0, 5.0), (1e12, 2e12), (1e-9, 2e-9), (1.0, None, 2.0), (123456.789, 1.0)],
)
def test_any_values_can_be_read(values: tuple[float | None, ...]) -> None:
    assert problems_of(drawn(line(*values), line(*values, label="l" * 80))) == []


@pytest.mark.parametrize(
    ("greatest", "ticks"),
    [
        (92.51, ["0", "50", "100"]),
        (100.0, ["0", "50", "100"]),
        (100.1, ["0", "60", "120"]),
        (16.0, ["0", "8", "16"]),
        (12.0, ["0", "6", "12"]),
        (0.031, ["0", "0.02", "0.04"]),
        (0.0, ["0", "0.5", "1"]),
    ],
)
def test_the_axis_ends_at_a_round_number(greatest: float, ticks: list[str]) -> None:
    assert [text for text in texts_of(drawn(line(0.0, greatest))) if text in ticks] == ticks


def test_a_gap_breaks_the_line() -> None:
    assert drawn(line(1, 2, None, 3, 4)).count("<polyline") == drawn(line(1, 2, 3, 4)).count("<polyline") + 1


def test_no_peak_of_many_values_is_lost() -> None:
    values = [1.0] * 5000
    values[1234] = 100.0
    picture = drawn(line(*values))
    assert "100" in texts_of(picture)
    assert ",28.0 " in picture  # the peak is at the upper end of the axis
    assert len(picture) < 20_000


def test_events_have_letters_that_do_not_overlap() -> None:
    events = tuple(
        Event(at=START + DAY * share, what="lost node", letter=letter)
        for share, letter in ((0, "A"), (0.5, "B"), (0.501, "C"), (1, "D"))
    )
    picture = drawn(line(1, 2), events=(*events, Event(at=START, what="checkpoint")))
    assert [text for text in texts_of(picture) if text in "ABCD"] == ["A", "B", "D"]
    assert picture.count('stroke-dasharray="3 3"') == 4
    assert problems_of(picture) == []
