"""The gallery shows each example with pictures that can be read."""

from pathlib import Path

import pytest
from gallery_pages import gallery_pages
from tests.unit.cli.pictures.elements import problems_of


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return gallery_pages()


def test_every_example_with_a_cluster_has_its_pictures(pages: dict[str, str]) -> None:
    for name in ("quickstart", "two-waves", "own-app"):
        assert {f"{name}-1.svg", f"{name}-cost.svg"} <= set(pages)
    assert {"timeline.svg", "two-waves-3.svg"} <= set(pages)


def test_every_picture_of_a_page_is_there(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        shown = [part.partition(")")[0] for part in text.split("](")[1:]] if name.endswith(".md") else []
        assert [file for file in shown if file.endswith(".svg") and not pages.get(file)] == [], name


def test_every_picture_can_be_read(pages: dict[str, str]) -> None:
    pictures = {name: text for name, text in pages.items() if name.endswith(".svg")}
    assert len(pictures) > 25
    assert {name: problems for name, text in pictures.items() if (problems := problems_of(text))} == {}


def test_the_picture_of_the_readme_is_that_of_the_quick_start(pages: dict[str, str]) -> None:
    picture = Path(__file__).parents[3] / "docs/cluster.svg"
    assert picture.read_text("utf-8") == pages["quickstart-1.svg"]
