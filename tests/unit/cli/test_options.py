"""The same option has the same name and help in every command, also as a field of a data class of options."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from ultracluster_cli.main import app
from ultracluster_cli.options import with_option_groups

# Each of these names means something of its own in some commands.
OF_A_COMMAND = {
    "--all": 2,  # jobs that have ended, or the log of each node
    "--bucket": 2,
    "--cluster": 5,  # one, some, the one in CloudWatch, the one that an order is for, and the one that runs a program
    "--days": 2,
    "--every": 2,  # between lines about a node, or between searches
    "--from": 2,
    "--hours": 3,  # of a run, of metrics, and of metrics since the start of a block
    "--image": 2,  # one to look at, or folders that stand for some
    "--json": 2,  # a document, or one for each line of a log
    "--name": 3,
    "--node": 2,  # whose log, and where to open a shell
    "--nodes": 4,
    "--parameter": 2,
    "--prefer": 2,  # one rank for an order, or as the days of a search ask for
    "--price": 2,
    "--profile": 2,  # with a rollout, and without
    "--region": 13,
    "--regions": 2,
    "--reservation-id": 2,
    "--resume": 2,  # a rollout, or how often a job goes on
    "--save": 2,  # metrics, or logs
    "--skip": 2,  # a check of an account, or a rule for templates with the reason
    "--timeout": 2,
    "--to": 2,
    "--ultraservers": 2,
    "--wait": 3,  # for a checkpoint, at each stage of a block, or for an offering
    "--wave": 2,
    "--write": 2,
}


def test_an_option_is_described_by_the_same_words_everywhere() -> None:
    words: dict[str, set[str]] = defaultdict(set)
    for option in (
        each for _, command in _commands(typer.main.get_command(app)) for each in _options(command)
    ):
        words[option.opts[0]].add(option.help)
    several = {name: len(texts) for name, texts in words.items() if len(texts) > 1}

    assert "--ledger" in words
    assert several == OF_A_COMMAND


DEFAULTS = {
    "ami resolve": {"image": "ecs-neuron"},
    "capacity approve": {
        "currency": "USD",
        "expires_in_hours": 24,
        "platform": "Linux/UNIX",
        "prefer": "total",
        "ultraserver_type": "u-trn2x64",
    },
    "capacity buy": {"every": 5},
    "capacity extend": {"currency": "USD", "expires_in_hours": 24},
    "capacity find": {"limit": 10, "regions": "all", "ultraserver_type": "u-trn2x64"},
    "capacity place": {"prefer": "total"},
    "capacity reserve": {"currency": "USD", "expires_in_hours": 24, "platform": "Linux/UNIX"},
    "clusters": {"regions": "all"},
    "cost advise": {"hours": 24},
    "cost bake-off": {"weeks": 4},
    "cost estimate": {"compile_reuse": 1, "runs_per_month": 1},
    "dashboard": {"hours": 24},
    "deploy": {"qualifier": "hnb659fds"},
    "jobs logs": {"tail": 100},
    "jobs stop": {"reason": "Stopped with ultracluster jobs stop", "wait": "5m"},
    "local clock": {"region": "us-east-2", "wait": 10},
    "local env": {"region": "us-east-2"},
    "local reset": {"region": "us-east-2"},
    "local up": {"region": "us-east-2"},
    "logs": {"tail": 100},
    "nodes replace": {"wait": "5m"},
    "plan": {"against": "deployed"},
    "preflight": {"qualifier": "hnb659fds", "timeout": 120},
    "rollout": {"at_once": 4, "bake": 10, "patience": 60},
    "run": {"folder": Path()},
    "status": {"every": 10},
    "stop": {"reason": "Stopped with ultracluster jobs stop", "wait": "5m"},
}
"""What commands do unless told otherwise. Scripts rely on it: CHANGELOG.md tells of a change. No option is on by default."""


def test_commands_keep_their_defaults() -> None:
    found = {
        " ".join(path): given
        for path, command in _commands(typer.main.get_command(app))
        if (given := {each.name: each.default for each in _options(command) if each.default})
    }

    assert found == DEFAULTS


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from _commands(command.get_command(None, name), (*path, name))


def _options(command: Any) -> Iterator[Any]:
    yield from (each for each in command.params if each.param_type_name == "option")


@dataclass(frozen=True, kw_only=True)
class _Account:
    profile: Annotated[str | None, typer.Option(help="Profile.")] = None
    region: Annotated[str, typer.Option(help="Region.")]


def _run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()

    @app.command()
    @with_option_groups
    def show(name: str, *, account: _Account, times: int = 1) -> None:
        """Show the options."""
        typer.echo(f"{name} {account.profile} {account.region} {times}")

    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("a", "--region", "us-east-2"), "a None us-east-2 1\n"),
        (("a", "--region", "us-east-2", "--profile", "p", "--times", "3"), "a p us-east-2 3\n"),
    ],
)
def test_a_command_gets_a_group_with_the_options_of_its_fields(
    arguments: tuple[str, ...], output: str
) -> None:
    assert _run(*arguments) == (0, output)


def test_a_field_without_a_default_is_a_required_option() -> None:
    code, output = _run("a")

    assert code == 2
    assert "--region" in output


def test_the_help_of_a_command_is_its_docstring_and_the_help_of_each_field() -> None:
    _, output = _run("--help")

    assert all(text in output for text in ("Show the options.", "Profile.", "Region.", "--times"))
