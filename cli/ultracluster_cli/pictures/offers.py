"""Draw offerings of Capacity Blocks by start, length and price, beside the list price."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final

from ultracluster_cli.pictures.drawing import DARK, MARGIN, SOFT, WIDTH, Drawing
from ultracluster_runtime.costs.price_comparison import compare_prices
from ultracluster_runtime.purchasing.offerings import Offering

_KIND: Final = attrgetter("region", "zone", "start", "end", "fee", "instance_count")
_ROWS: Final = 30
_ROW: Final = 24
_TIMES: Final = (330.0, 620.0)
_PRICES: Final = (680.0, 830.0)
"""Left and right end of the axes of time and price."""


def draw_offers(offerings: Sequence[Offering]) -> Drawing:
    """Draw offerings, the best first: offerings that differ in nothing but their ID share a row."""
    groups: dict[object, list[Offering]] = {}
    for offering in offerings:
        groups.setdefault(_KIND(offering), []).append(offering)
    rows = list(groups.values())[:_ROWS]
    drawing = Drawing("Capacity Block offerings by start, length and price")
    top = drawing.heading(f"{len(offerings)} Capacity Block offerings, the best first", MARGIN + 12)
    if not rows:
        drawing.text("No offerings found.", MARGIN, top)
        return drawing
    axis = top + 12
    bottom = axis + _ROW * len(rows) + 12
    _draw_times(drawing, rows, axis=axis, bottom=bottom)
    _draw_prices(drawing, rows, axis=axis, bottom=bottom)
    for number, group in enumerate(rows):
        offer, base = group[0], axis + _ROW * (number + 1)
        tone = "green" if not number else "grey"
        days = offer.duration / timedelta(days=1)
        more = f" ({len(group)} offerings)" if len(group) > 1 else ""
        best = "best: " if not number else ""
        zone = ", ".join(offer.zone_ids) or offer.zone
        words = f"{best}{zone}, {days:.3g} {'day' if days == 1 else 'days'}{more}"
        room = _TIMES[0] - MARGIN - 24
        drawing.text(words, MARGIN, base, room=room, bold=not number, colour=DARK[tone])
        total = f"{offer.fee:,.0f} {offer.currency}"
        drawing.text(total, WIDTH - MARGIN, base, room=120, align="end", bold=not number, colour=DARK[tone])
    if len(groups) > len(rows):
        more = f"and {len(groups) - len(rows)} more rows: --json has every offering"
        drawing.text(more, MARGIN, bottom + 38)
    return drawing


def _draw_times(drawing: Drawing, rows: Sequence[Sequence[Offering]], *, axis: float, bottom: float) -> None:
    """Draw each block from its start to its end."""
    first, last = min(group[0].start for group in rows), max(group[0].end for group in rows)
    left, right = _TIMES

    def place(moment: datetime) -> float:
        return left + (right - left) * ((moment - first) / (last - first))

    for moment in (first, first + (last - first) / 2, last):
        drawing.line((place(moment), axis), (place(moment), bottom), colour="#d0d7de", thickness=1)
        drawing.text(f"{moment:%d %b}", place(moment), bottom + 16, colour=SOFT, align="middle")
    drawing.text("start to end (UTC)", (left + right) / 2, axis - 10, bold=True, align="middle")
    for number, group in enumerate(rows):
        start, end = place(group[0].start), place(group[0].end)
        tone = "green" if not number else "blue"
        drawing.rect(start, axis + _ROW * (number + 1) - 11, max(end - start, 2), 14, fill=DARK[tone])


def _draw_prices(drawing: Drawing, rows: Sequence[Sequence[Offering]], *, axis: float, bottom: float) -> None:
    """Mark the price of a chip-hour of each block, and draw the list price as a line."""
    prices = [group[0].fee_per_chip_hour for group in rows]
    known = [float(price) for price in prices if price is not None]
    best = rows[0][0]
    compared = compare_prices(best.catalog_type.name, best.region)[:1] if best.catalog_type else []
    listed = [float(chip_hour) for comparison in compared if (chip_hour := comparison.per_chip_hour)]
    if not known:
        return
    left, right = _PRICES
    scale = (right - left) / (max([*known, *listed]) * 1.1)
    unit = f"{best.currency} per chip-hour, from 0"
    drawing.text(unit, (left + right) / 2, axis - 10, bold=True, align="middle")
    drawing.line((left, axis), (left, bottom), colour="#d0d7de", thickness=1)
    for price in listed:
        x = left + price * scale
        drawing.line((x, axis), (x, bottom), colour=DARK["red"], dashes="6 3")
        drawing.text(f"list price {price:.4g}", x, bottom + 16, colour=DARK["red"])
    for number, amount in enumerate(prices):
        if amount is None:
            continue
        x, y = left + float(amount) * scale, axis + _ROW * (number + 1) - 4
        tone = "blue" if number else "green"
        drawing.mark((x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y), colour=DARK[tone])
