"""Words that are listed in words.yaml are in no page, docstring, comment or message of the product."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.figures import product_modules
from tests.prose import comments, docstrings, messages
from tests.unit.docs.pages import PAGES, ROOT

WORDS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
LISTED = re.compile("|".join(f"(?:{pattern})" for pattern in WORDS), re.IGNORECASE)


def lines_of_pages() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
            yield f"{page.relative_to(ROOT)}:{number}", line


def sentences_of_modules() -> Iterator[tuple[str, str]]:
    for module in product_modules(ROOT):
        for read in (docstrings, comments, messages):
            for line, text in read(module):
                yield f"{module.path.relative_to(ROOT)}:{line}", text


@pytest.mark.parametrize("read", [lines_of_pages, sentences_of_modules])
def test_no_listed_word_comes_back(read: Callable[[], Iterator[tuple[str, str]]]) -> None:
    found = [
        f"{place}: {match[0]!r}; write: {better(match[0])}"
        for place, text in read()
        if (match := LISTED.search(text))
    ]
    assert found == []


def better(word: str) -> str:
    return next(text for pattern, text in WORDS.items() if re.search(pattern, word, re.IGNORECASE))


@pytest.mark.parametrize(
    "text", ["mounts without a word", "Who is told of it", "the next wake-up tries again"]
)
def test_a_listed_word_is_found(text: str) -> None:
    assert LISTED.search(text)
