"""What is wrong with the elements of a picture: texts that overlap or leave their place, and colours without contrast."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ultracluster_cli.pictures.drawing import text_width

SVG = "{http://www.w3.org/2000/svg}"


class Area(NamedTuple):
    """Left, top, right and bottom."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Area") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: "Area") -> bool:
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


def words_of(text: ET.Element) -> str:
    """The words that are shown, without those of a tooltip."""
    return (text.text or "") + "".join(part.tail or "" for part in text)


def texts_of(svg: str) -> list[str]:
    return [words_of(text) for text in _parsed(svg).iter(f"{SVG}text")]


def problems_of(svg: str) -> list[str]:
    """Everything that a reader would complain about. Empty if nothing."""
    return list(_problems(_parsed(svg)))


def _parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - drawn by our own code


def _problems(picture: ET.Element) -> Iterator[str]:
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    canvas = Area(0, 0, width, height)
    if picture.get("role") != "img" or not picture.findtext(f"{SVG}title"):
        yield "no role or title"
    if len(picture.findtext(f"{SVG}desc") or "") < 10:
        yield "no description"
    _, *rects = [(_area_of_rect(rect), rect.attrib["fill"]) for rect in picture.iter(f"{SVG}rect")]
    texts = [(_area_of_text(text), text) for text in picture.iter(f"{SVG}text")]
    yield from (f"a box leaves the canvas: {area}" for area, _ in rects if not canvas.holds(area))
    yield from (
        f"{words_of(text)!r} overlaps {words_of(other)!r}"
        for (area, text), (other_area, other) in combinations(texts, 2)
        if area.meets(other_area)
    )
    lines = [ends for line in picture.iter(f"{SVG}polyline") for ends in pairwise(_points(line))]
    marks = [_bounds(_points(mark)) for mark in picture.iter(f"{SVG}polygon")]
    for area, text in texts:
        words = repr(words_of(text))
        if not canvas.holds(area) or not words_of(text).strip():
            yield f"{words} leaves the canvas, or has no room"
        if any(_crosses(area, *ends) for ends in lines):
            yield f"a line crosses {words}"
        if any(area.meets(mark) for mark in marks):
            yield f"a mark lies on {words}"
        if any(box.meets(area) and not box.holds(area) for box, _ in rects):
            yield f"{words} leaves its box"
        grounds = [fill for box, fill in rects if fill != "none" and box.holds(area)]
        if contrast(text.attrib["fill"], (grounds or ["#ffffff"])[-1]) < 4.5:
            yield f"{words} has too little contrast"


def _area_of_rect(rect: ET.Element) -> Area:
    left, top = float(rect.get("x", 0)), float(rect.get("y", 0))
    return Area(left, top, left + float(rect.attrib["width"]), top + float(rect.attrib["height"]))


def _area_of_text(text: ET.Element) -> Area:
    size, left = float(text.attrib["font-size"]), float(text.attrib["x"])
    width = text_width(words_of(text), size=size, bold=text.get("font-weight") == "bold")
    left -= {"start": 0.0, "middle": width / 2, "end": width}[text.get("text-anchor", "start")]
    base = float(text.attrib["y"])
    return Area(left, base - 0.8 * size, left + width, base + 0.25 * size)


def _points(shape: ET.Element) -> list[tuple[float, float]]:
    places = [tuple(map(float, place.split(","))) for place in shape.attrib["points"].split()]
    return [(x, y) for x, y in places]


def _bounds(points: Sequence[tuple[float, float]]) -> Area:
    xs, ys = zip(*points, strict=True)
    return Area(min(xs), min(ys), max(xs), max(ys))


def _crosses(area: Area, start: tuple[float, float], end: tuple[float, float]) -> bool:
    """Whether any of many points between two is in an area."""
    left, top, right, bottom = _bounds((start, end))
    return area.meets(Area(left - 1, top - 1, right + 1, bottom + 1)) and any(
        area.left < start[0] + (end[0] - start[0]) * part / 200 < area.right
        and area.top < start[1] + (end[1] - start[1]) * part / 200 < area.bottom
        for part in range(201)
    )


def contrast(first: str, second: str) -> float:
    """The contrast of two colours, as WCAG 2.2 defines it."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
