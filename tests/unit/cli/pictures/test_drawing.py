"""Texts know their width, and the check of elements notices what is wrong with a picture."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.cli.pictures.elements import problems_of

from ultracluster_cli.pictures.drawing import DARK, GROUND, TINT, Drawing, fit, text_width, wrap

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
WORDS = (
    "up to 64 x trn2.48xlarge",
    "capacity-block cr-0123456789abcdef0",
    "iiiiiiiiiillllllllll",
    "WWWWWWWWWWmmmmmmmmmm",
    "The quick brown fox jumps over the lazy dog; 0123456789 (1,234.56 USD) 99.9%",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz",
    "a…b ≈ 12",
    "\"'!#$&*+,-./:;<=>?@[]^_`{|}~",
)


def test_a_good_picture_has_no_problem() -> None:
    made = Drawing("A picture of some words")
    made.rect(100, 100, 200, 40, fill="#ffffff", stroke=DARK["blue"])
    made.text("some words", 110, 125)
    assert problems_of(made.svg()) == []


def test_a_box_has_a_border_where_it_is_asked_for() -> None:
    drawing = Drawing("Boxes")
    drawing.rect(0, 0, 10, 10, fill=GROUND)
    drawing.rect(0, 20, 10, 10, stroke="#123456", thickness=2, dashed=True, rounded=3)

    *_, filled, framed = (
        dict(re.findall(r'([\w-]+)="([^"]*)"', line))
        for line in drawing.svg().splitlines()
        if "<rect" in line
    )
    assert filled == {"x": "0.0", "y": "0.0", "width": "10.0", "height": "10.0", "fill": GROUND}
    assert framed.items() >= {"fill": "none", "stroke": "#123456", "stroke-width": "2", "rx": "3"}.items()
    assert "stroke-dasharray" in framed


def test_a_text_is_cut_in_its_middle_to_its_room() -> None:
    assert fit("short", 100) == "short"
    cut = fit("a-name-that-is-very-long-and-ends-in-us-east-2", 150)
    assert cut.startswith("a-name")
    assert cut.endswith("east-2")
    assert text_width(cut) <= 150
    assert fit("word", 1) == ""


def test_a_text_is_wrapped_into_lines_that_fit() -> None:
    lines = wrap("one two three four five six seven eight nine ten " + "x" * 100, 120)
    assert len(lines) > 3
    assert all(text_width(line) <= 120 for line in lines)


def test_the_whole_text_is_in_the_description() -> None:
    made = Drawing("A picture")
    made.text("W" * 200, 20, 20)
    assert f"<desc>{'W' * 200}</desc>" in made.svg()


@pytest.mark.parametrize("tone", DARK)
def test_every_tone_has_contrast(tone: str) -> None:
    made = Drawing("Tones of a picture")
    made.rect(10, 10, 200, 40, fill=TINT[tone])
    made.text("dark on tint", 20, 30, colour=DARK[tone])
    made.rect(10, 60, 200, 40, fill=DARK[tone])
    made.text("white on dark", 20, 80, colour=GROUND)
    made.text("dark on white", 20, 130, colour=DARK[tone])
    assert problems_of(made.svg()) == []


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")
@pytest.mark.slow
def test_no_browser_draws_a_text_wider_than_is_assumed(tmp_path: Path) -> None:
    made = Drawing("Widths of texts", width=2000)
    for number, (words, bold) in enumerate((words, bold) for words in WORDS for bold in (False, True)):
        made.text(words, 20, 30 + 20 * number, bold=bold)
    script = (
        "for (const t of document.querySelectorAll('text')) document.title += t.getComputedTextLength() + ';'"
    )
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><title></title>{made.svg()}<script>{script}</script>", encoding="utf-8")
    command = [
        str(BROWSER),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}/profile",
    ]
    shown = subprocess.run(
        [*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    drawn = [
        float(width) for width in shown.stdout.split("<title>")[1].split("</title>")[0].split(";") if width
    ]

    assumed = [text_width(words, bold=bold) for words in WORDS for bold in (False, True)]
    assert len(drawn) == len(assumed)
    assert all(real <= width for real, width in zip(drawn, assumed, strict=True)), list(
        zip(drawn, assumed, strict=True)
    )
