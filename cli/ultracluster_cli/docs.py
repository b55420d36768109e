"""`ultracluster docs`: read and search the documentation, the commands and the rules offline."""

import ast
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from ultracluster_cli.class_pages import classes, page_of
from ultracluster_cli.main import COMMANDS, load_command
from ultracluster_cli.options import JsonOption
from ultracluster_cli.output import has_colors, print_json, print_table
from ultracluster_cli.project.shipped import shipped
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.records import RECORDS

_WIDTH = 110
_ALL_RULES = "rules"
_MOST = 10
_WEIGHTS = {"page": 30, "command": 25, "class": 20, "setting": 10}
"""What a reader more likely looks for among equal hits."""
_FOLDERS = (
    "tutorials",
    "how-to",
    "concepts",
    "reference",
    "runbook",
    "gallery",
    "evidence",
)
_CODE = re.compile(r"\s*UC\d\w*\s*", re.IGNORECASE | re.ASCII)


def docs(
    topics: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            help="Name of a page or a class, codes of rules such as UC4105, `rules` for all rules, or words to search for. Default: list the pages.",
            show_default=False,
        ),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print a page of the documentation or about a class, explain rules by their codes, or search for words.

    Searches pages, commands, options, settings of rollout files, rules and classes. A rule is explained by a line that
    keeps it, where one shows it, the remedy and the source.
    """
    words = topics or []
    if words == [_ALL_RULES]:
        _print_rules(_records(), whole=False, as_json=as_json)
    elif words and all(map(_CODE.fullmatch, words)):
        _print_rules(_selected_records(words), whole=True, as_json=as_json)
    elif as_json:
        raise typer.BadParameter("--json is for rules; specify `rules` or codes such as UC4105")
    elif not words:
        _list_pages()
    elif len(words) == 1 and words[0] in (pages := _pages()):
        _print_page(pages[words[0]].read_text(encoding="utf-8"))
    elif len(words) == 1 and words[0] in classes():
        _print_page(page_of(words[0]))
    else:
        _search(words)


# Pages


def _pages() -> dict[str, Path]:
    return {path.stem: path for path in sorted(shipped("docs").glob("*/*.md")) if path.stem != "index"}


def _print_page(text: str) -> None:
    """Print a page as it is written, and rendered on a terminal."""
    from ultracluster_cli.rendered_page import RenderedPage  # noqa: PLC0415 - rules are plain text

    if not sys.stdout.isatty():
        typer.echo(text, nl=False)
        return
    console = Console(width=_width(), highlight=False, no_color=not has_colors(sys.stdout))
    console.print(RenderedPage(text, hyperlinks=False))


def _list_pages() -> None:
    pages = _pages()
    for folder in _FOLDERS:
        names = ", ".join(name for name, path in pages.items() if path.parent.name == folder)
        indent = "  "
        typer.echo(f"{folder}:")
        typer.echo(
            textwrap.fill(
                names, _width(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
            )
        )
    typer.echo("README: the decisions of the project, with their reasons")
    typer.echo(f"{_ALL_RULES}: a list of all rules; `ultracluster docs CODE` explains one")
    typer.echo("`ultracluster docs WORD` searches all of this, the commands and the classes.")


def _width() -> int:
    return min(shutil.get_terminal_size((_WIDTH, 24)).columns, _WIDTH)


# Search


class _Entry(NamedTuple):
    """Something that a search can find: its kind, its name, one line about it, and the text that is searched."""

    kind: str
    name: str
    about: str
    text: str = ""

    def score(self, words: Sequence[str]) -> int:
        """Return how well the entry fits all words; 0 if it lacks one."""
        # An option is found by its own name, not by that of its command.
        name = self.name.lower().rpartition(" ")[2] if self.kind == "option" else self.name.lower()
        about, text = self.about.lower(), self.text.lower()
        headings = " ".join(re.findall(r"^#+ (.*)$", text, re.MULTILINE)) if self.kind == "page" else ""
        own = {_stem(part) for part in re.split(r"[^a-z0-9]+", name)}
        titled = {_stem(part) for part in re.split(r"[^a-z0-9]+", headings)}
        # One word that fits very well does not make up for another that hardly fits.
        scores = [
            min(100 * (word in own) + 60 * (word in titled) + 30 * (word in name) + 20 * (word in about), 100)
            + min(text.count(word), 10)
            for word in words
        ]
        return sum(scores) + _WEIGHTS.get(self.kind, 0) if all(scores) else 0


def _stem(word: str) -> str:
    """Return a word without dashes before it, plural and the endings of a verb."""
    return re.sub(r"(?<=...)(?:ing|ed|es|e|s)$", "", word.lower().lstrip("-"))


def _search(words: Sequence[str]) -> None:
    stems = [_stem(word) for phrase in words for word in phrase.split()]
    scored = [(entry.score(stems), entry) for entry in _entries()]
    # The same setting exists in several places of a rollout file.
    found = list(
        {
            (entry.kind, entry.name): (score, entry)
            for score, entry in sorted(scored, key=lambda pair: pair[0])
            if score
        }.values()
    )[::-1]
    if not found:
        asked = quote(" ".join(words))
        raise typer.BadParameter(f"nothing is about {asked}; `ultracluster docs` lists the pages")
    print_table({"kind": entry.kind, "name": entry.name, "about": entry.about} for _, entry in found[:_MOST])
    if len(found) > _MOST:
        typer.echo(f"{len(found) - _MOST} more; add a word.")


def _entries() -> Iterator[_Entry]:
    for name, path in _pages().items():
        text = path.read_text(encoding="utf-8")
        yield _Entry("page", name, text.partition("\n")[0].lstrip("# "), text)
    for name in COMMANDS:
        with suppress(FindingsError, ImportError):  # the local AWS may not be installed
            yield from _command_entries(name, load_command(name))
    from ultracluster_stacks.config.schema import schema_text  # noqa: PLC0415 - pydantic, which rules do not need

    for kind in json.loads(schema_text()).get("$defs", {}).values():
        for name, setting in kind.get("properties", {}).items():
            yield _Entry("setting", name, _sentence(setting.get("description", "")))
    for record in _records():
        yield _Entry("rule", record.code, record.summary, record.remedy)
    for name, node in classes().items():
        text = ast.get_docstring(node) or ""
        yield _Entry("class", name, _sentence(text), text)


def _command_entries(name: str, command: Any) -> Iterator[_Entry]:
    yield _Entry("command", name, command.get_short_help_str(limit=200), command.help or "")
    for child_name, child in getattr(command, "commands", {}).items():
        yield from _command_entries(f"{name} {child_name}", child)
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.help:
            yield _Entry("option", f"{name} {parameter.opts[0]}", parameter.help)


def _sentence(text: str) -> str:
    return text.partition("\n")[0].partition(". ")[0]


# Rules


def _print_rules(records: Sequence[RuleRecord], *, whole: bool, as_json: bool) -> None:
    if as_json:
        print_json(rules=[_row(record) for record in records])
    elif whole:
        typer.echo("\n".join(map(_explanation, records)))
    else:
        for record in records:
            typer.echo(f"{record.code}  {record.severity:7}  {record.summary}")


def _records() -> Sequence[RuleRecord]:
    from ultracluster_cli.records import ALL_RECORDS  # noqa: PLC0415 - imports nearly everything

    return list(ALL_RECORDS.values())


def _selected_records(codes: Sequence[str]) -> Sequence[RuleRecord]:
    known = [RECORDS.get(code.strip().upper()) for code in codes]
    if None not in known:
        return [record for record in dict.fromkeys(known) if record]
    from ultracluster_cli.records import selected_records  # noqa: PLC0415 - imports nearly everything

    return selected_records(codes)


def _row(record: RuleRecord) -> dict[str, Any]:
    return {
        "code": record.code,
        "severity": record.severity,
        "summary": record.summary,
        "example": record.example or None,
        "remedy": record.remedy,
        "source": record.source,
        "suppressible": record.suppressible,
    }


def _explanation(record: RuleRecord) -> str:
    parts = [
        *([("Passes", f"    {record.example}")] if record.example else []),
        ("Remedy", _paragraph(record.remedy)),
        ("Source", _paragraph(record.source)),
    ]
    if record.suppressible:
        parts.append(
            ("Suppress", _paragraph(f"in a rollout file, with a reason: suppress: {{{record.code}: REASON}}"))
        )
    head = "\n".join(textwrap.wrap(f"{record.code}, {record.severity}: {record.summary}", _width()))
    return "\n".join([head, *(f"\n  {title}:\n{text}" for title, text in parts), ""])


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _width(), initial_indent="    ", subsequent_indent="    ")
