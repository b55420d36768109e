"""Each question of readers is answered by a heading of a page within two clicks from the start page."""

import re
from pathlib import Path

import pytest
import yaml

DOCS = Path(__file__).parents[3] / "docs"
QUESTIONS = yaml.safe_load((DOCS / "questions.yaml").read_text("utf-8"))


def linked(page: Path) -> set[Path]:
    """The pages that a page links to, outside of code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+\.md)[^)]*\)", text)
    return {(page.parent / target).resolve() for target in targets if "://" not in target}


def reached(clicks: int) -> set[Path]:
    pages = {DOCS / "index.md"}
    for _ in range(clicks):
        pages |= {target for page in pages if page.exists() for target in linked(page)}
    return pages


@pytest.fixture(scope="module")
def near() -> set[Path]:
    return reached(2)


def test_there_are_sixty_questions_and_searches() -> None:
    assert len({each["question"] for each in QUESTIONS}) == len(QUESTIONS) >= 60
    assert len({each["search"] for each in QUESTIONS}) >= 60


@pytest.mark.parametrize("entry", QUESTIONS, ids=lambda entry: str(entry["question"]))
def test_a_question_is_answered_within_two_clicks(entry: dict[str, str], near: set[Path]) -> None:
    page = DOCS / f"{entry['page']}.md"
    assert page in near
    assert entry["heading"] in re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)


def test_every_page_is_within_two_clicks(near: set[Path]) -> None:
    assert {path for path in DOCS.glob("*/*.md") if path.name != "README.md"} - near == set()


@pytest.mark.parametrize("folder", ["tutorials", "how-to", "runbook"])
def test_the_median_page_has_at_most_600_words(folder: str) -> None:
    words = sorted(len(page.read_text("utf-8").split()) for page in (DOCS / folder).glob("*.md"))
    assert words[len(words) // 2] <= 600


@pytest.mark.parametrize("page", sorted((DOCS / "runbook").glob("[!i]*.md")), ids=lambda page: page.stem)
def test_a_page_of_the_runbook_says_what_to_see_decide_and_run_on_one_screen(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["See", "Decide", "Command"]
    assert "```bash\n" in text.partition("## Command")[2]
    assert len(text.splitlines()) <= 50
