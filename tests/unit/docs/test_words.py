"""Words that are listed in words.yaml are in no page."""

import re
from pathlib import Path

import pytest
import yaml
from tests.unit.docs.pages import PAGES, ROOT

WORDS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
LISTED = re.compile("|".join(f"(?:{pattern})" for pattern in WORDS), re.IGNORECASE)


def test_no_listed_word_comes_back() -> None:
    found = [
        f"{page.relative_to(ROOT)}:{number}: {match[0]!r}; write: {better(match[0])}"
        for page in PAGES
        for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1)
        if (match := LISTED.search(line))
    ]
    assert found == []


def better(word: str) -> str:
    return next(text for pattern, text in WORDS.items() if re.search(pattern, word, re.IGNORECASE))


@pytest.mark.parametrize(
    "text", ["mounts without a word", "Who is told of it", "the next wake-up tries again"]
)
def test_a_listed_word_is_found(text: str) -> None:
    assert LISTED.search(text)
