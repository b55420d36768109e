"""The pictures of the site can be read: nothing overlaps or leaves its place, colours have contrast, and words stand beside them."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import pytest
from gallery_pages import gallery_pages
from pictures import texts_of, timeline, topology

from ultracluster_cli.plan.picture import Box

SVG = "{http://www.w3.org/2000/svg}"
Area = tuple[float, float, float, float]


@pytest.fixture(scope="module")
def pictures() -> dict[str, ET.Element]:
    return {
        name: ET.fromstring(text)  # noqa: S314 - drawn by our own code
        for name, text in gallery_pages().items()
        if name.endswith(".svg")
    }


def area_of(text: ET.Element) -> Area:
    size = float(text.get("font-size", "13"))
    width = len(text.text or "") * 0.62 * size
    left, base = float(text.attrib["x"]), float(text.attrib["y"])
    left -= width / 2 if text.get("text-anchor") == "middle" else 0
    return left, base - 0.8 * size, left + width, base + 0.25 * size


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def overlap(first: Area, second: Area) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def ground_under(text: ET.Element, picture: ET.Element) -> str:
    """The colour of the last filled shape under a text."""
    x, y = float(text.attrib["x"]), float(text.attrib["y"])
    ground = "#ffffff"
    for shape in picture.iter(f"{SVG}rect"):
        left, top = float(shape.get("x", 0)), float(shape.get("y", 0))
        inside = left <= x <= left + float(shape.attrib["width"]) and top <= y <= top + float(
            shape.attrib["height"]
        )
        if inside and shape.attrib["fill"] != "none":
            ground = shape.attrib["fill"]
    return ground


def test_every_example_with_a_cluster_has_a_picture(pictures: dict[str, ET.Element]) -> None:
    assert {"timeline.svg", "quickstart-1.svg", "two-waves-3.svg", "own-app-1.svg"} <= set(pictures)


def test_no_text_overlaps_another_or_leaves_the_picture(pictures: dict[str, ET.Element]) -> None:
    for name, picture in pictures.items():
        _, _, width, height = map(float, picture.attrib["viewBox"].split())
        texts = [(text.text, area_of(text)) for text in picture.iter(f"{SVG}text")]
        assert [words for words, area in texts if area[0] < 0 or area[2] > width or area[3] > height] == [], (
            name
        )
        pairs = [(a[0], b[0]) for a, b in combinations(texts, 2) if overlap(a[1], b[1])]
        assert pairs == [], name


def test_every_text_has_contrast(pictures: dict[str, ET.Element]) -> None:
    for name, picture in pictures.items():
        for text in picture.iter(f"{SVG}text"):
            assert contrast(text.attrib["fill"], ground_under(text, picture)) >= 4.5, (name, text.text)


def test_every_picture_has_a_title_and_a_description(pictures: dict[str, ET.Element]) -> None:
    for picture in pictures.values():
        assert picture.get("role") == "img"
        assert picture.findtext(f"{SVG}title")
        assert len(picture.findtext(f"{SVG}desc") or "") > 40


def test_a_long_name_is_cut_to_its_box() -> None:
    box = Box(title="Queue", lines=("x" * 200,), place=(0.1, 1.0, 2.7, 2.6), action=None)
    for text in texts_of([box]):
        left, _, right, bottom = text.room
        assert text.area[0] >= left
        assert text.area[2] <= right
        assert text.area[3] <= bottom
    assert "…" in topology([box], name="n")


def test_the_timeline_counts_paid_and_lost_node_hours() -> None:
    picture = timeline(days=14, nodes=4)
    assert "Paid: 1,344 node-hours" in picture  # 14 x 24 x 4
    assert "2.7 node-hours" in picture  # 40 minutes of 4 nodes
    assert re.search(r"60 min before end", picture)


def test_the_picture_of_the_readme_is_that_of_the_quick_start() -> None:
    picture = Path(__file__).parents[3] / "docs/cluster.svg"
    assert picture.read_text("utf-8") == gallery_pages()["quickstart-1.svg"]
