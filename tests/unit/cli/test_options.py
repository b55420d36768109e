"""The same option has the same name and help in every command."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import typer

from ultracluster_cli.main import app

# Each of these names means something of its own in some commands.
OF_A_COMMAND = {
    "--bucket": 2,
    "--cluster": 5,  # one, some, the one in CloudWatch, the one that an order is for, and the one that runs a program
    "--days": 2,
    "--from": 2,
    "--hours": 2,
    "--image": 2,  # one to look at, or folders that stand for some
    "--json": 2,  # a document, or one for each line of a log
    "--name": 3,
    "--node": 2,  # whose log, and where to open a shell
    "--nodes": 4,
    "--parameter": 2,
    "--price": 2,
    "--profile": 2,  # with a rollout, and without
    "--region": 12,
    "--regions": 2,
    "--reservation-id": 2,
    "--resume": 3,  # a rollout, or how often a job goes on: by default as its definition, or as the job it is based on
    "--skip": 2,  # a check of an account, or a rule for templates with the reason
    "--timeout": 2,
    "--to": 2,
    "--ultraservers": 2,
    "--wait": 2,  # for a checkpoint, or at each stage of a block
    "--wave": 2,
    "--write": 2,
}


def test_an_option_is_described_by_the_same_words_everywhere() -> None:
    words: dict[str, set[str]] = defaultdict(set)
    for option in _options(typer.main.get_command(app)):
        words[option.opts[0]].add(option.help)
    several = {name: len(texts) for name, texts in words.items() if len(texts) > 1}

    assert "--ledger" in words
    assert several == OF_A_COMMAND


def _options(command: Any) -> Iterator[Any]:
    yield from (each for each in command.params if each.param_type_name == "option")
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from _options(command.get_command(None, name))
