"""`ultracluster docs` prints pages of the documentation and explains rules."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from tests.unit.cli.conftest import Run

from ultracluster_cli import docs
from ultracluster_cli import main as entry_point
from ultracluster_cli.records import ALL_RECORDS

ROOT = Path(__file__).parents[3]
PAGES = {path.stem: path for path in (ROOT / "docs").glob("*/*.md") if path.stem != "index"}
NAMED = re.compile(r"`ultracluster docs ([a-z-]+)`")


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


def test_a_rule_is_explained(run: Run) -> None:
    outcome = run("docs", "UC4105")

    assert outcome.code == 0
    assert outcome.stdout.startswith(
        "UC4105, error: The nodes of one UltraServer block are those of one UltraS"
    )
    assert "Passes" not in outcome.stdout
    words = " ".join(outcome.stdout.split())  # which a terminal wraps
    assert f" Remedy: {ALL_RECORDS['UC4105'].remedy} Source: {ALL_RECORDS['UC4105'].source}" in words
    assert "Suppress" not in outcome.stdout


def test_a_line_that_keeps_a_rule_is_shown(run: Run) -> None:
    assert "\n  Passes:\n    instance_type: trn2.48xlarge\n" in run("docs", "UC4001").stdout


def test_a_suppressible_warning_explains_how(run: Run) -> None:
    assert "suppress: {UC4103: REASON}" in run("docs", "UC4103").stdout


def test_several_rules_are_explained_each_once_in_any_case(run: Run) -> None:
    told = run("docs", "uc4103", "UC4105", "UC4103").stdout

    assert re.findall(r"^UC\d{4}", told, re.MULTILINE) == ["UC4103", "UC4105"]


def test_all_rules_are_listed(run: Run) -> None:
    lines = run("docs", "rules").stdout.splitlines()

    assert [line[:6] for line in lines] == sorted(ALL_RECORDS)
    assert (
        "UC4103  warning  The number of nodes is a size in which Capacity Blocks are usually offered."
        in lines
    )


def test_json_has_everything(run: Run) -> None:
    (told,) = json.loads(run("docs", "UC1001", "--json").stdout)["rules"]

    assert list(told) == [
        *("code", "severity", "summary", "example", "remedy", "source", "suppressible"),
    ]
    assert (told["code"], told["suppressible"]) == ("UC1001", False)
    assert len(json.loads(run("docs", "rules", "--json").stdout)["rules"]) == len(ALL_RECORDS)


def test_at_a_terminal_findings_end_with_the_way_to_their_rule(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = run("cost", "--compare", "p9.48xlarge").stderr
    message = run("docs", "UC4999").stderr
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    way = "Run `ultracluster docs UC4001` for an explanation."
    shown = run("cost", "--compare", "p9.48xlarge").stderr  # lines end at the width of the terminal
    assert shown.split() == [*piped.split(), *way.split()]
    assert shown.endswith(f"{way}\n")
    assert run("docs", "UC4999").stderr.split() == message.split()


def test_every_command_of_an_example_exists_with_its_options() -> None:
    commands = [
        (code, line)
        for code, note in ALL_RECORDS.items()
        for text in (note.example, note.remedy)
        for line in re.findall(r"`(?:ultracluster) ([^`]+)`", text)
    ]

    assert len(commands) > 40
    assert [(code, line, wrong) for code, line in commands for wrong in _wrong_words(line)] == []


def _wrong_words(line: str) -> Iterator[str]:
    """What a command line has that no command has: a command, or an option of it."""
    words = line.split()
    command: Any = typer.main.get_command(entry_point.app)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        name = words.pop(0)
        if name not in command.commands and "estimate" in command.commands:
            name = "estimate"  # `cost ROLLOUT` is short for it
        if name not in command.commands:
            yield name
            return
        command = command.commands[name]
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    yield from (word for word in words if word.startswith("--") and word.strip(".,") not in known)
