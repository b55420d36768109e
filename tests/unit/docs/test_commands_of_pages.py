"""Commands that pages show exist, with the options that they show."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.main import COMMANDS, load_command

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]


def commands_of(page: Path) -> Iterator[list[str]]:
    """The commands in the blocks of a page, from `ultracluster` to the end of the command."""
    for block in re.findall(
        r"^```(?:console|bash)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|\|\||[|;]|\$\(|\)", line.partition(" #")[0]):
                match = re.search(r"(?:^|\s)ultracluster (\S.*)", part)
                if match:
                    yield shlex.split(match[1].replace("'**'", "ALL"), comments=True)


def find(words: list[str]) -> tuple[Any, list[str]]:
    command = load_command(words[0])
    rest = words[1:]
    while getattr(command, "commands", None) and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


def options_of(command: Any) -> set[str]:
    """Options of a command; of a group, which may run one of its commands by default, those of all."""
    parts = [command, *getattr(command, "commands", {}).values()]
    parameters = [parameter for part in parts for parameter in part.params]
    names = {"--help"} | {name for each in parameters for name in (*each.opts, *each.secondary_opts)}
    return names | {"--local"} if "--profile" in names else names  # as `ultracluster_cli.main` adds it


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_exist_with_their_options(page: Path) -> None:
    wrong = []
    for words in commands_of(page):
        if words[0].startswith("-"):
            continue
        if words[0] not in COMMANDS:
            wrong.append(f"no command {words[0]}")
            continue
        command, rest = find(words)
        options = options_of(command)
        own = rest[: rest.index("--")] if "--" in rest else rest
        wrong += [
            f"ultracluster {' '.join(words)}: no option {word}"
            for word in own
            if word.startswith("--") and word.partition("=")[0] not in options
        ]
    assert wrong == []


def test_a_missing_option_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\nFOO=1 ultracluster jobs list quickstart --everything | head\n```\n", encoding="utf-8"
    )
    (words,) = commands_of(page)
    command, rest = find(words)
    assert rest == ["quickstart", "--everything"]
    assert "--all" in options_of(command)
    assert "--everything" not in options_of(command)
