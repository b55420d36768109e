"""Commands and options that went name their successor in one line, whatever they are called with."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from tests.unit.cli.conftest import Run

from ultracluster_cli.main import COMMANDS, app
from ultracluster_cli.predecessors import PREDECESSORS

# As people typed them, and what must not be done first: show a help, read a file, ask AWS.
ARGUMENTS = ([], ["--help"], ["-h"], ["no-such-file.yaml", "--no-such-option"], ["--json"])


@pytest.mark.parametrize("more", ARGUMENTS, ids=" ".join)
@pytest.mark.parametrize("old", PREDECESSORS)
def test_what_went_prints_one_line_with_its_successor(run: Run, old: str, more: list[str]) -> None:
    outcome = run(*old.split(), *more)

    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr == f"`ultracluster {old}` is gone; use `ultracluster {PREDECESSORS[old]}`.\n"


@pytest.mark.parametrize("old", [old for old in PREDECESSORS if "--" in old])
def test_an_option_that_went_may_stand_anywhere(run: Run, old: str) -> None:
    *command, option = old.split()

    for arguments in (["rollout.yaml", option, "a.svg"], ["rollout.yaml", f"{option}=a.svg", "--json"]):
        outcome = run(*command, *arguments)
        assert (outcome.code, outcome.stderr.count("\n")) == (2, 1)
        assert f"`ultracluster {PREDECESSORS[old]}`" in outcome.stderr


def test_other_commands_keep_an_option_of_the_same_name(run: Run) -> None:
    assert "is gone" not in run("cost", "rollout.yaml", "--picture", "plan").stderr
    assert "is gone" not in run("docs", "rules").stderr


@pytest.mark.parametrize("new", PREDECESSORS.values())
def test_every_successor_exists(new: str) -> None:
    assert list(unknown_words(new)) == []


def test_nothing_that_went_is_a_command_or_in_the_help(run: Run) -> None:
    assert [old for old in PREDECESSORS if list(unknown_words(old)) == []] == []
    listed = {line.split()[0] for line in run("--help").stdout.splitlines() if line.strip()}
    assert listed & set(PREDECESSORS) == set()
    assert "validate" in listed & set(COMMANDS)


def unknown_words(line: str) -> Iterator[str]:
    """What a command line has that no command has: a command, or an option of it."""
    command: Any = typer.main.get_command(app)
    for word in line.split():
        if word.startswith("--"):
            if not any(word in parameter.opts for parameter in command.params):
                yield word
        elif word in getattr(command, "commands", {}):
            command = command.commands[word]
        else:
            yield word
