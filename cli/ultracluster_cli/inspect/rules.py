"""`ultracluster rules`: explain the codes of findings."""

import difflib
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ultracluster_cli.output import print_json
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.registry import RULES, Rule

_WIDTH = 110


def rules(
    codes: Annotated[
        list[str] | None, typer.Argument(metavar="CODE", help="Codes such as UC4105. Default: list all.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain rules by their codes, or list them all.

    Shows a failing and a passing example, the remedy and the source of each rule.
    """
    selected = _selected_codes(codes or [])
    if as_json:
        print_json(rules=[_row(code, RULES[code]) for code in selected or RULES])
    elif selected:
        typer.echo("\n".join(_explanation(code, RULES[code]) for code in selected))
    else:
        for code, rule in RULES.items():
            typer.echo(f"{code}  {rule.severity:7}  {rule.summary}")


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
    allowed = "a code listed by `ultracluster rules`, such as UC4105"
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
