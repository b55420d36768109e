"""`ultracluster docs CODE` explains rules."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer.main

from ultracluster_cli import main as entry_point
from ultracluster_cli.records import ALL_RECORDS

Run = Callable[..., Any]


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
    piped = run("cost", "--cluster", "nobody").stderr
    message = run("docs", "UC4999").stderr
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    way = "Run `ultracluster docs UC2201` for an explanation."
    shown = run("cost", "--cluster", "nobody").stderr  # lines end at the width of the terminal
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

    assert len(commands) > 50
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
