"""`ultracluster docs` prints pages of the documentation; test_docs_rules.py has its rules."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracluster_cli import docs

ROOT = Path(__file__).parents[3]
PAGES = {path.stem: path for path in (ROOT / "docs").glob("*/*.md") if path.stem != "index"}
NAMED = re.compile(r"`ultracluster docs ([a-z-]+)`")

Run = Callable[..., Any]


def test_a_page_is_printed_as_it_is_written(run: Run) -> None:
    assert run("docs", "images").stdout == PAGES["images"].read_text()


def test_the_list_names_every_page_on_two_screens_with_the_tutorials_first(run: Run) -> None:
    shown = run("docs").stdout
    listed = {name for name, path in PAGES.items() if path.parent.name != "decisions"}
    assert listed <= set(re.findall(r"[a-z0-9-]+", shown))
    assert len(shown.splitlines()) <= 48
    assert shown.startswith("tutorials:")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["resume"], "resume-a-job"),
        (["rotating", "keys"], "key"),
        (["besides"], "--besides"),
        (["destroy"], "destroy"),
        (["reservation", "id"], "reservation_id"),
        (["UltraCluster"], "UltraCluster"),
        (["tear", "down"], "tear-down"),
        (["runnable"], "job-runnable"),
    ],
)
def test_a_search_finds_pages_commands_options_settings_and_classes_among_its_first_hits(
    run: Run, words: list[str], first: str
) -> None:
    outcome = run("docs", *words)
    assert outcome.code == 0
    assert any(first in line for line in outcome.stdout.splitlines()[2:5]), outcome.stdout


def test_the_questions_of_readers_are_answered_by_one_of_the_first_three_hits(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = list(docs._entries())
    monkeypatch.setattr(docs, "_entries", lambda: iter(entries))
    unanswered = []
    for each in yaml.safe_load((ROOT / "docs/questions.yaml").read_text("utf-8")):
        page = each["page"].rpartition("/")[2]
        shown = run("docs", *each["search"].split()).stdout
        hits = [line.split()[:2] for line in shown.splitlines()[2:5]]
        if ["page", page] not in hits and shown != PAGES[page].read_text("utf-8"):
            unanswered.append((each["question"], hits))
    assert unanswered == []


def test_an_unknown_page_is_refused(run: Run) -> None:
    outcome = run("docs", "imagse")
    assert outcome.code == 2
    assert "`ultracluster docs` lists the pages" in " ".join(outcome.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["images", "--json"], "--json is for rules"),
        (["--json"], "--json is for rules"),
    ],
)
def test_pages_and_rules_are_not_mixed(run: Run, arguments: list[str], problem: str) -> None:
    outcome = run("docs", *arguments)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert problem in " ".join(outcome.stderr.split())


def test_no_two_pages_have_the_same_name() -> None:
    pages = [path for path in (ROOT / "docs").glob("*/*.md") if path.stem != "index"]
    assert len(pages) == len(PAGES)


@pytest.mark.parametrize("folder", ["cli", "constructs", "localaws", "stacks"])
def test_every_page_that_a_message_names_exists_and_is_in_the_wheel(folder: str) -> None:
    shipped = (ROOT / "pyproject.toml").read_text()
    named = {
        name
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".toml"}
        for name in NAMED.findall(path.read_text("utf-8"))
    }
    assert named <= set(PAGES) | {"rules"}
    for name in named & set(PAGES):
        assert f'"docs/{PAGES[name].parent.name}" = ' in shipped


def test_no_message_and_no_docstring_names_a_file_of_the_documentation() -> None:
    """The wheel has the pages at another place; `ultracluster docs TOPIC` finds them."""
    found = {
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for folder in ("cli", "constructs", "localaws/ultracluster_local", "stacks")
        for path in (ROOT / folder).rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if "docs/" in line and re.search(r"\bdocs/[\w/-]+\.md\b", line)
    }
    assert found == set()
