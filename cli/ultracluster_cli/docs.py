"""`ultracluster docs`: read the documentation and the rules offline."""

import difflib
import re
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ultracluster_cli.options import JsonOption
from ultracluster_cli.output import print_json
from ultracluster_cli.project.project_files import shipped
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.registry import RULES, Rule

_WIDTH = 110
_ALL_RULES = "rules"
_CODE = re.compile(r"\s*UC\d\w*\s*", re.IGNORECASE | re.ASCII)


def docs(
    topics: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            help="Name of a page, codes of rules such as UC4105, or `rules` for all rules. Default: list the pages.",
            show_default=False,
        ),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print a page of the documentation, explain rules by their codes, or list them.

    A rule is explained by a failing and a passing example, the remedy and the source.
    """
    words = topics or []
    if words == [_ALL_RULES]:
        _print_rules(list(RULES), whole=False, as_json=as_json)
    elif words and all(map(_CODE.fullmatch, words)):
        _print_rules(_selected_codes(words), whole=True, as_json=as_json)
    elif as_json:
        raise typer.BadParameter("--json is for rules; specify `rules` or codes such as UC4105")
    elif len(words) > 1:
        raise typer.BadParameter("specify one page, or only codes of rules")
    else:
        _print_page(words[0] if words else "")


# Pages


def _print_page(topic: str) -> None:
    pages = {path.stem: path for path in sorted(shipped("docs").glob("*/*.md")) if path.stem != "index"}
    if topic and topic not in pages:
        raise typer.BadParameter(f"there is no page {topic!r}; `ultracluster docs` lists the pages")
    if topic:
        typer.echo(pages[topic].read_text(encoding="utf-8"), nl=False)
    else:
        for name, path in sorted(pages.items(), key=lambda page: page[1]):
            with path.open(encoding="utf-8") as text:
                typer.echo(f"{name:24} {text.readline().lstrip('# ').strip()}")
        typer.echo(f"{_ALL_RULES:24} List of all rules; `ultracluster docs CODE` explains one")


# Rules


def _print_rules(codes: Sequence[str], *, whole: bool, as_json: bool) -> None:
    if as_json:
        print_json(rules=[_row(code, RULES[code]) for code in codes])
    elif whole:
        typer.echo("\n".join(_explanation(code, RULES[code]) for code in codes))
    else:
        for code in codes:
            typer.echo(f"{code}  {RULES[code].severity:7}  {RULES[code].summary}")


def _selected_codes(codes: Sequence[str]) -> list[str]:
    """Return the codes in upper case without duplicates."""
    upper_case = [code.strip().upper() for code in codes]
    if unknown := [
        code_as_typed for code_as_typed, code in zip(codes, upper_case, strict=True) if code not in RULES
    ]:
        raise FindingsError(_unknown_code(code_as_typed) for code_as_typed in unknown)
    return list(dict.fromkeys(upper_case))


def _unknown_code(code_as_typed: str) -> Finding:
    matches = difflib.get_close_matches(code_as_typed.upper()[:100], RULES, n=1)
    allowed = "a code listed by `ultracluster docs rules`, such as UC4105"
    remedy = f"Did you mean {matches[0]}?" if matches else ""
    return Finding(code="UC9501", problem=f"got {quote(code_as_typed)}", allowed=allowed, remedy=remedy)


def _row(code: str, rule: Rule) -> dict[str, Any]:
    return {
        "code": code,
        "severity": rule.severity,
        "summary": rule.summary,
        "kind": rule.kind,
        "fails": rule.fails.strip(),
        "passes": rule.passes.strip(),
        "remedy": rule.remedy,
        "source": rule.source,
        "suppressible": rule.suppressible,
        "shown_by": rule.shown_by or None,
    }


def _explanation(code: str, rule: Rule) -> str:
    parts = [
        ("Fails", _example(rule.fails)),
        ("Passes", _example(rule.passes)),
        ("Remedy", _paragraph(rule.remedy)),
        ("Source", _paragraph(rule.source)),
    ]
    if rule.suppressible:
        parts.append(
            ("Suppress", _paragraph(f"in a rollout file, with a reason: suppress: {{{code}: REASON}}"))
        )
    head = "\n".join(textwrap.wrap(f"{code}, {rule.severity}: {rule.summary}", _WIDTH))
    return "\n".join([head, *(f"\n  {title}:\n{text}" for title, text in parts), ""])


def _example(text: str) -> str:
    return textwrap.indent(text.strip(), "    ")


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
