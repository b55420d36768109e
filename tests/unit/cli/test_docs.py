"""`ultracluster docs` prints pages of the documentation; test_docs_rules.py has its rules."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PAGES = {path.stem: path for path in (ROOT / "docs").glob("*/*.md") if path.stem != "index"}
NAMED = re.compile(r"`ultracluster docs ([a-z-]+)`")

Run = Callable[..., Any]


def test_a_page_is_printed_as_it_is_written(run: Run) -> None:
    assert run("docs", "images").stdout == PAGES["images"].read_text()


def test_the_list_names_every_page_with_its_title(run: Run) -> None:
    lines = run("docs").stdout.splitlines()
    assert {line.split()[0] for line in lines} == set(PAGES) | {"rules"}
    assert next(line for line in lines if line.startswith("job-runnable ")).endswith("Job stuck in RUNNABLE")


def test_an_unknown_page_is_refused(run: Run) -> None:
    outcome = run("docs", "imagse")
    assert outcome.code == 2
    assert "`ultracluster docs` lists the pages" in " ".join(outcome.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["images", "storage"], "specify one page, or only codes of rules"),
        (["UC4105", "images"], "specify one page, or only codes of rules"),
        (["rules", "UC4105"], "specify one page, or only codes of rules"),
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
