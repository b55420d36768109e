"""Pictures of the site, as SVG: the topology of a cluster from its templates, and the timeline of a Capacity Block.

Each picture has a title and a description for screen readers, words beside every colour, and its own white ground, so that it reads in dark mode and in print.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import DRAIN_BEFORE_END, TERMINATION_BEFORE_END
from ultracluster_cli.plan.picture import Box

__all__ = ["Text", "texts_of", "timeline", "topology"]

_INK: Final = "#24292f"
_GROUND: Final = "#ffffff"
_UNIT: Final = 76
_FONT: Final = 13
_LETTER: Final = 0.62 * _FONT
"""Width of a letter, as wide as the widest fonts that stand for sans-serif draw it."""

_KINDS: Final = {"Queue": "#0550ae", "Nodes": "#116329", "FSx for Lustre": "#7d4e00", "Buckets": "#7d4e00"}
_MEANINGS: Final = {"#0550ae": "scheduling", "#116329": "compute", "#7d4e00": "storage", "#57606a": "network"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A line of text in a picture.

    Attributes:
        room: Left, top, right and bottom of the area that it must stay in.
    """

    words: str
    left: float
    base: float
    colour: str = _INK
    ground: str = _GROUND
    bold: bool = False
    room: tuple[float, float, float, float]

    @property
    def area(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the text."""
        width = len(self.words) * _LETTER
        return self.left, self.base - 0.8 * _FONT, self.left + width, self.base + 0.25 * _FONT

    def svg(self) -> str:
        """Return the element."""
        weight = ' font-weight="bold"' if self.bold else ""
        return f'<text x="{self.left:.0f}" y="{self.base:.0f}" fill="{self.colour}"{weight}>{escape(self.words)}</text>'


def texts_of(boxes: Sequence[Box]) -> list[Text]:
    """Return the texts of the topology of a cluster, each cut to its box."""
    texts = []
    for box in boxes:
        left, top, right, bottom = _area(box)
        colour = _KINDS.get(box.title, "#57606a")
        for number, line in enumerate((box.title, *box.lines)):
            most = int((right - left - 16) / _LETTER)
            words = line if len(line) <= most else f"{line[: most - 1]}…"
            texts.append(
                Text(
                    words=words,
                    left=left + 8,
                    base=top + 20 + 20 * number,
                    colour=_INK if number else colour,
                    bold=not number,
                    room=(left, top, right, bottom),
                )
            )
    return texts


def topology(boxes: Sequence[Box], *, name: str) -> str:
    """Draw the parts of a cluster: queue, network, nodes, file system and buckets."""
    width, height = 13 * _UNIT, int(4.4 * _UNIT) + 34
    parts = []
    for box in boxes:
        left, top, right, bottom = _area(box)
        colour = _KINDS.get(box.title, "#57606a")
        parts.append(
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{right - left:.0f}" height="{bottom - top:.0f}" rx="6" fill="none" '
            f'stroke="{colour}" stroke-width="2"/>'
        )
    drawn = {box.title: _area(box) for box in boxes}
    for start, end in (("Queue", "Nodes"), ("Nodes", "FSx for Lustre"), ("FSx for Lustre", "Buckets")):
        if start in drawn and end in drawn:
            middle = (drawn[end][1] + drawn[end][3]) / 2
            parts.append(
                f'<line x1="{drawn[start][2]:.0f}" y1="{middle:.0f}" x2="{drawn[end][0] - 2:.0f}" y2="{middle:.0f}" '
                f'stroke="{_INK}" stroke-width="1.5" marker-end="url(#arrow)"/>'
            )
    parts += [text.svg() for text in texts_of(boxes)]
    for number, (colour, meaning) in enumerate(_MEANINGS.items()):
        left, base = 12 + 150 * number, height - 12
        parts.append(
            f'<rect x="{left}" y="{base - 10}" width="12" height="12" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(f'<text x="{left + 18}" y="{base}" fill="{_INK}">{meaning}</text>')
    words = "; ".join(
        ": ".join((box.title, ", ".join(box.lines))) if box.lines else box.title for box in boxes
    )
    return _svg(width, height, title=f"Topology of {name}", description=words, parts=parts)


def timeline(*, days: int, nodes: int, checkpoint_lead: timedelta = timedelta(minutes=20)) -> str:
    """Draw what happens in a Capacity Block, and what of its paid time can be used. The stages are not to scale."""
    lost = DRAIN_BEFORE_END.total_seconds() / 3600 * nodes
    paid = days * 24 * nodes
    stages = (
        ("waiting", "before the start", ("jobs wait", "in the queue"), "#57606a"),
        ("boot", "the start", ("nodes join,", "graphs load"), "#7d4e00"),
        ("gates", "if the job has them", ("fabric, then", "smoke test"), "#7d4e00"),
        ("training", f"day 1 to {days}", ("checkpoints as", "often as you set"), "#116329"),
        (
            "checkpoint",
            _before(DRAIN_BEFORE_END + checkpoint_lead),
            ("SIGUSR1: jobs", "save and go on"),
            "#116329",
        ),
        ("drain", _before(DRAIN_BEFORE_END), ("SIGTERM: jobs", "are ended"), "#a40e26"),
        ("termination", _before(TERMINATION_BEFORE_END), ("EC2 ends", "the nodes"), "#a40e26"),
        ("end or extension", "day " + str(days), ("jobs with resume", "go on"), "#0550ae"),
    )
    width, height, step = 13 * _UNIT, 236, (13 * _UNIT - 24) / len(stages)
    parts = []
    for number, (name, when, lines, colour) in enumerate(stages):
        left = 12 + step * number
        parts.append(f'<rect x="{left:.0f}" y="40" width="{step - 4:.0f}" height="34" fill="{colour}"/>')
        parts.append(
            f'<text x="{left + step / 2 - 2:.0f}" y="62" fill="{_GROUND}" text-anchor="middle" font-size="11">{name}</text>'
        )
        for line, words in enumerate((when, *lines)):
            weight = ' font-weight="bold"' if not line else ""
            parts.append(
                f'<text x="{left + step / 2 - 2:.0f}" y="{96 + 18 * line}" fill="{_INK}" text-anchor="middle" font-size="11"{weight}>{words}</text>'
            )
    parts.append(
        f'<text x="12" y="24" fill="{_INK}" font-weight="bold">A Capacity Block of {days} days and {nodes} nodes (not to scale)</text>'
    )
    legend = (
        ("#57606a", "before the block"),
        ("#7d4e00", "paid, before training"),
        ("#116329", "paid and used"),
        ("#a40e26", "paid and lost"),
        ("#0550ae", "what comes next"),
    )
    for number, (colour, words) in enumerate(legend):
        parts.append(f'<rect x="{12 + 195 * number}" y="160" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{30 + 195 * number}" y="171" fill="{_INK}">{words}</text>')
    money = f"Paid: {paid:,} node-hours. Lost in every block: {lost:.1f} node-hours from the drain to the end, {lost / paid:.1%}."
    parts.append(f'<text x="12" y="200" fill="{_INK}">{money}</text>')
    parts.append(
        f'<text x="12" y="222" fill="{_INK}">An extension moves checkpoint, drain and end; it can be bought until one hour before the end.</text>'
    )
    description = "; ".join(f"{name}, {when}: {' '.join(lines)}" for name, when, lines, _ in stages)
    return _svg(
        width,
        height,
        title="Timeline of a Capacity Block",
        description=f"{description}. {money}",
        parts=parts,
    )


def _before(time: timedelta) -> str:
    return f"{int(time.total_seconds() / 60)} min before end"


def _area(box: Box) -> tuple[float, float, float, float]:
    left, bottom, width, height = box.place
    return left * _UNIT, (4.4 - bottom - height) * _UNIT, (left + width) * _UNIT, (4.4 - bottom) * _UNIT


def _svg(width: int, height: int, *, title: str, description: str, parts: Iterable[str]) -> str:
    arrow = f'<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{_INK}"/></marker>'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"',
            f'role="img" aria-labelledby="title desc" font-family="sans-serif" font-size="{_FONT}">',
            f'<title id="title">{escape(title)}</title><desc id="desc">{escape(description)}</desc><defs>{arrow}</defs>',
            f'<rect width="{width}" height="{height}" fill="{_GROUND}"/>',
            *parts,
            "</svg>\n",
        )
    )
