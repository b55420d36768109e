"""Draw accessible SVG whose texts fit: a text knows its width, is wrapped or cut to its room, and stands beside each colour."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final, Literal

INK: Final = "#24292f"
SOFT: Final = "#57606a"
GROUND: Final = "#ffffff"
DARK: Final[Mapping[str, str]] = {
    "grey": SOFT,
    "green": "#116329",
    "amber": "#7d4e00",
    "red": "#a40e26",
    "blue": "#0550ae",
    "purple": "#6639ba",
    "teal": "#0b5a6b",
    "pink": "#99286e",
}
"""Colours of lines and titles, by tone. White text on them and they on white have a contrast of at least 4.5."""
TINT: Final[Mapping[str, str]] = {
    "grey": "#f6f8fa",
    "green": "#dafbe1",
    "amber": "#fff8c5",
    "red": "#ffebe9",
    "blue": "#ddf4ff",
    "purple": "#fbefff",
    "teal": "#d6f3f7",
    "pink": "#ffeff7",
}
"""Colours of areas under text, by tone."""

WIDTH: Final = 960
MARGIN: Final = 16
SIZE: Final = 12
ROW: Final = 18
"""Distance between the base lines of two lines of text."""

# Verdana and DejaVu Sans, the widest of the fonts that stand for sans-serif, in hundredths of the size.
_FONTS: Final = "Verdana, 'DejaVu Sans', sans-serif"
_WIDTHS: Final = {
    letter: width
    for width, letters in {
        31: "'ijlIJ ,./:;\\|",
        41: "-()[]tfr!",
        54: '"*_`sz?c',
        61: "FkvxyPTYaeoL·",
        66: "$0123456789ESbdghnpqu{}K",
        71: "ABVXZCR",
        79: "UNH&DGOQ",
        86: "w#+<=>^~M",
        100: "%mW@…",
    }.items()
    for letter in letters
}
_OTHER_LETTER: Final = 100
_BOLDER: Final = 8

Align = Literal["start", "middle", "end"]


def text_width(words: str, *, size: float = SIZE, bold: bool = False) -> float:
    """Return the width of a line of text, in the widest of the fonts that may show it."""
    more = _BOLDER if bold else 0
    return size / 100 * sum(_WIDTHS.get(letter, _OTHER_LETTER) + more for letter in words)


def fit(words: str, room: float, *, size: float = SIZE, bold: bool = False) -> str:
    """Cut the middle out of a text that is wider than its room: names differ at their ends."""
    if text_width(words, size=size, bold=bold) <= room:
        return words
    for kept in range(len(words) - 1, 0, -1):
        cut = f"{words[: kept - kept // 2]}…{words[len(words) - kept // 2 :]}"
        if text_width(cut, size=size, bold=bold) <= room:
            return cut
    return ""


def wrap(words: str, room: float) -> list[str]:
    """Break a text into lines of at most a width."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(fit(word, room))
    return lines


class Drawing:
    """A picture that grows downwards as it is drawn.

    Its description for screen readers is all of its text, uncut.
    """

    def __init__(self, title: str, *, width: int = WIDTH) -> None:
        self.title, self.width = title, width
        self.bottom = 0.0
        self._parts: list[str] = []
        self._words: list[str] = []

    def text(
        self,
        words: str,
        x: float,
        base: float,
        *,
        room: float | None = None,
        size: float = SIZE,
        bold: bool = False,
        colour: str = INK,
        align: Align = "start",
    ) -> float:
        """Draw a line of text, cut to its room or the picture, and return its width."""
        before = x - MARGIN / 2 if align != "start" else self.width
        after = self.width - MARGIN / 2 - x if align != "end" else self.width
        space = 2 * min(before, after) if align == "middle" else min(before, after)
        shown = fit(words, min(space, room or space), size=size, bold=bold)
        self._words.append(words)
        full = f"<title>{escape(words)}</title>" if shown != words else ""
        weight = ' font-weight="bold"' if bold else ""
        anchor = f' text-anchor="{align}"' if align != "start" else ""
        self._add(
            f'<text x="{x:.1f}" y="{base:.1f}" font-size="{size:g}" fill="{colour}"{weight}{anchor}>'
            f"{full}{escape(shown)}</text>",
            base + size / 3,
        )
        return text_width(shown, size=size, bold=bold)

    def paragraph(self, words: str, left: float, base: float, *, room: float) -> float:
        """Draw text on as many lines as it needs, and return the base of the line after it."""
        for line in wrap(words, room):
            self.text(line, left, base)
            base += ROW
        return base

    def rect(
        self,
        left: float,
        top: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        stroke: str = "none",
        thickness: float = 1.5,
        dashed: bool = False,
        rounded: float = 0,
    ) -> None:
        """Draw a rectangle."""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        line = f' stroke="{stroke}" stroke-width="{thickness:g}"{dashes}' if stroke != "none" else ""
        corners = f' rx="{rounded:g}"' if rounded else ""
        self._add(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" fill="{fill}"{line}{corners}/>',
            top + height,
        )

    def line(
        self, *points: tuple[float, float], colour: str = SOFT, thickness: float = 1.5, dashes: str = ""
    ) -> None:
        """Draw a line through points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        broken = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._add(
            f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{thickness:g}"{broken}/>',
            max(y for _, y in points),
        )

    def mark(self, *points: tuple[float, float], colour: str = INK) -> None:
        """Fill the area between points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._add(f'<polygon points="{places}" fill="{colour}"/>', max(y for _, y in points))

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Draw an arrow to the right or downwards."""
        self.line((x, y), (to_x, to_y), colour=INK)
        sides = [(-4, -7), (4, -7)] if to_y > y else [(-7, -4), (-7, 4)]
        self.mark((to_x, to_y), *((to_x + across, to_y + along) for across, along in sides))

    def heading(self, words: str, base: float) -> float:
        """Draw a bold line over the width of the picture, and return the base of the line after it."""
        self.text(words, MARGIN, base, size=14, bold=True)
        return base + 22

    def legend(
        self, entries: Iterable[tuple[str, str]], top: float, *, fills: Mapping[str, str] = TINT
    ) -> float:
        """Draw a square and words for each tone, on as many lines as they need, and return their lower end."""
        x = float(MARGIN)
        for tone, words in entries:
            width = 30 + text_width(words)
            if x > MARGIN and x + width > self.width - MARGIN / 2:
                x, top = float(MARGIN), top + ROW + 2
            self.rect(x, top, 12, 12, fill=fills[tone], stroke=DARK[tone])
            self.text(words, x + 18, top + 10.5)
            x += width + 8
        return top + ROW

    def svg(self) -> str:
        """Return the picture. Equal drawings give equal texts."""
        height = self.bottom + MARGIN
        description = "; ".join(dict.fromkeys(self._words))
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height:.0f}"',
                f'width="{self.width}" height="{height:.0f}" role="img" font-family="{_FONTS}">',
                f"<title>{escape(self.title)}</title><desc>{escape(description)}</desc>",
                "<style>@media print{svg{max-width:100%;height:auto}}</style>",
                f'<rect x="0" y="0" width="{self.width}" height="{height:.0f}" fill="{GROUND}"/>',
                *self._parts,
                "</svg>\n",
            )
        )

    def _add(self, part: str, bottom: float) -> None:
        self._parts.append(part)
        self.bottom = max(self.bottom, bottom)
