"""Draw values over time as lines, with the events that explain them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Final

from ultracluster_cli.pictures.drawing import DARK, INK, ROW, SOFT, Align, Drawing

_WIDTH, _HEIGHT = 440, 190
_LEFT, _RIGHT, _TOP = 56.0, 424.0, 28.0
_TONES: Final = ("blue", "amber", "green", "purple", "red", "teal", "pink", "grey")
_DASHES: Final = ("", "6 3", "2 2", "8 3 2 3", "12 4")
_GRID: Final = "#d0d7de"
_ROUND: Final = (1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_ALMOST: Final = 1 - 1e-9  # 1.2 * 10 is a little less than 12 in binary
_PLACES: Final = 300
"""Places along the axis; of more values in one, the least and the greatest are drawn, so that no peak is lost."""
_APART: Final = 14
"""Least distance between the letters of two events; the line of an event without a letter is drawn, too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of a chart; None is a gap."""

    label: str
    points: tuple[tuple[datetime, float | None], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """An event with its letter. One without a letter is a mark on the axis."""

    at: datetime
    what: str
    letter: str = ""


def draw_chart(
    title: str, lines: Sequence[Line], *, start: datetime, end: datetime, events: Sequence[Event] = ()
) -> Drawing:
    """Draw lines over an axis from 0 to a round number above their greatest value."""
    drawing = Drawing(title, width=_WIDTH)
    values = [value for line in lines for _, value in line.points if value is not None]
    low, high = 0.0 - _round_up(-min(0.0, *values, 0.0)), _round_up(max(*values, 0.0)) or 1.0

    def place(moment: datetime, value: float = 0.0) -> tuple[float, float]:
        share = (moment - start) / (end - start)
        height = (value - low) / (high - low)
        return _LEFT + (_RIGHT - _LEFT) * min(max(share, 0.0), 1.0), _HEIGHT - (_HEIGHT - _TOP) * height

    for value in (low, low + (high - low) / 2, high):
        _, y = place(start, value)
        drawing.line((_LEFT, y), (_RIGHT, y), colour=_GRID, thickness=1)
        drawing.text(short(value), _LEFT - 6, y + 4, room=46, size=11, colour=SOFT, align="end")
    ends: tuple[tuple[datetime, float, Align], ...] = ((start, _LEFT, "start"), (end, _RIGHT, "end"))
    for moment, x, align in ends:
        drawing.text(f"{moment:%m-%d %H:%M}", x, _HEIGHT + 20, size=11, colour=SOFT, align=align)
    last = 0.0
    for event in events:
        x, _ = place(event.at)
        if not event.letter:
            drawing.mark((x, _HEIGHT), (x - 3, _HEIGHT + 6), (x + 3, _HEIGHT + 6), colour=SOFT)
            continue
        drawing.line((x, _TOP - 6), (x, _HEIGHT), colour=INK, thickness=1, dashes="3 3")
        if x - last >= _APART:
            drawing.text(event.letter, x, _TOP - 10, size=11, bold=True, align="middle")
            last = x
    for number, line in enumerate(lines):
        colour, dashes = DARK[_TONES[number % len(_TONES)]], _DASHES[number % len(_DASHES)]
        for part in _parts(line, start, end):
            drawing.line(*(place(*point) for point in part), colour=colour, dashes=dashes)
        base = _HEIGHT + 40.0 + ROW * number
        drawing.line((_LEFT, base - 4), (_LEFT + 28, base - 4), colour=colour, thickness=2, dashes=dashes)
        drawing.text(line.label, _LEFT + 36, base)
    return drawing


def _round_up(value: float) -> float:
    """Return the next number whose half is as short to write."""
    if value <= 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(step * unit for step in _ROUND if step * unit >= value * _ALMOST)


def short(value: float | None) -> str:
    """Write a value with four digits."""
    return "" if value is None else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004 - four digits


def _parts(line: Line, start: datetime, end: datetime) -> Iterator[list[tuple[datetime, float]]]:
    """Yield the parts of a line between its gaps, each with at least two points."""
    part: list[tuple[datetime, float]] = []
    for moment, value in (*line.points, (end, None)):
        if value is not None:
            part.append((moment, value))
        elif part:
            yield _thinned(part, (end - start) / _PLACES)
            part = []


def _thinned(part: list[tuple[datetime, float]], span: timedelta) -> list[tuple[datetime, float]]:
    """Keep the least and the greatest value of each span."""
    kept = []
    for _, group in groupby(part, key=lambda point: (point[0] - part[0][0]) // span):
        points = list(group)
        ends = {min(points, key=itemgetter(1)), max(points, key=itemgetter(1))}
        kept += sorted(ends)
    return kept if len(kept) > 1 else [*kept, *kept]
