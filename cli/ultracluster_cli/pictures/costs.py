"""Draw estimates as linear stacked bars, with what is not known."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from ultracluster_cli.pictures.drawing import DARK, GROUND, MARGIN, ROW, SOFT, WIDTH, Drawing, text_width
from ultracluster_stacks.cost import Estimate, Line, Money

_TONES: Final = ("blue", "amber", "green", "purple", "teal", "pink")
"""Tones of the greatest parts; all others are grey."""

_BAR: Final = 28
_UNKNOWN: Final = 44
_PART: Final = (WIDTH - 2 * MARGIN - 24) / 2
"""Width of a line of the list below a bar, which has two columns."""


def draw_costs(estimates: Sequence[Estimate]) -> Drawing:
    """Draw the cost of a run of each cluster on one scale. Ranges are drawn to their upper end."""
    drawing = Drawing(f"Cost of a run of {', '.join(estimate.footprint.cluster for estimate in estimates)}")
    total = Money.total(estimate.run for estimate in estimates)
    top = drawing.heading(f"Cost of one run: {_usd(total)}{_left_out(total)}", MARGIN + 12) - 8
    drawing.text(
        "Linear scale, the same for every cluster. Ranges are drawn to their upper end. Dashed: unknown, of any width.",
        MARGIN,
        top,
        colour=SOFT,
    )
    longest = max(float(estimate.run.high) for estimate in estimates) or 1.0
    for estimate in estimates:
        top = _draw_estimate(
            drawing, estimate, top=top + 28, scale=(WIDTH - 2 * MARGIN - _UNKNOWN - 4) / longest
        )
    return drawing


def _draw_estimate(drawing: Drawing, estimate: Estimate, *, top: float, scale: float) -> float:
    footprint, hours = estimate.footprint, estimate.usage.hours
    name = f"{footprint.cluster} in {footprint.region}: {_usd(estimate.run)} for {hours:,} hours"
    drawing.text(name, MARGIN, top, bold=True)
    parts = sorted(estimate.lines, key=lambda line: -line.run(estimate.usage).high)
    known = [line for line in parts if line.run(estimate.usage).is_known]
    tones = {line.name: _TONES[place] if place < len(_TONES) else "grey" for place, line in enumerate(known)}
    left, bar_top = float(MARGIN), top + 10
    for line in known:
        money = line.run(estimate.usage)
        width = float(money.high) * scale
        drawing.rect(left, bar_top, width, _BAR, fill=DARK[tones[line.name]], stroke=GROUND, thickness=0.5)
        label = f"{line.name} {money.text()}"
        if text_width(label) + 16 <= width:
            drawing.text(label, left + 8, bar_top + 19, colour=GROUND)
        left += width
    if len(known) < len(parts):
        drawing.rect(left + 4, bar_top + 1, _UNKNOWN - 6, _BAR - 2, stroke=DARK["red"], dashed=True)
        drawing.text(
            "?", left + 2 + _UNKNOWN / 2, bar_top + 19, bold=True, colour=DARK["red"], align="middle"
        )
    first, rows = bar_top + _BAR + ROW, -(-len(parts) // 2)
    for number, line in enumerate((*known, *(line for line in parts if line not in known))):
        column, row = divmod(number, rows)
        place = (MARGIN + column * (_PART + 24), first + ROW * row)
        _draw_part(drawing, line, estimate, place, tones.get(line.name))
    return first + ROW * (rows - 1)


def _draw_part(
    drawing: Drawing, line: Line, estimate: Estimate, place: tuple[float, float], tone: str | None
) -> None:
    left, base = place
    money = line.run(estimate.usage)
    whole = estimate.run.high
    figure = "depends on use" if line.quantity is None else "price not known"
    if tone:
        figure = _usd(money) + (_share(money.high / whole) if whole else "")
        drawing.rect(left, base - 10, 12, 12, fill=DARK[tone])
    else:
        drawing.rect(left, base - 10, 12, 12, stroke=DARK["red"], dashed=True)
    taken = drawing.text(figure, left + _PART, base, room=_PART / 2, align="end")
    drawing.text(line.name, left + 18, base, room=_PART - taken - 30)


def _share(share: Decimal) -> str:
    return f" ({share:.1%})" if share >= Decimal("0.001") else " (less than 0.1%)"


def _left_out(total: Money) -> str:
    parts = len(total.without)
    return f", without {parts} unknown {'part' if parts == 1 else 'parts'}" if parts else ""


def _usd(money: Money) -> str:
    return f"{money.text()} USD" if money.is_known else "not known"
