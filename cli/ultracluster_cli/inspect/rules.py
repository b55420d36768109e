"""`ultracluster rules`: explain the codes of findings."""

import difflib
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ultracluster_cli.output import print_json
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.registry import RULES, Rule

__all__ = ["app", "rules"]

app = typer.Typer(add_completion=False)

_WIDTH = 110


@app.command()
def rules(
    codes: Annotated[
        list[str] | None, typer.Argument(metavar="CODE", help="Codes such as UC4105. Default: a list of all.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/command-line.md).")] = False,
) -> None:
    """Explain rules by their codes, or list them all.

    Shows an example that breaks the rule, one that keeps it, what to do, and the source.
    """
    wanted = _known(codes or [])
    if as_json:
        print_json({"rules": [_row(code, RULES[code]) for code in wanted or RULES]})
    elif wanted:
        typer.echo("\n".join(_explained(code, RULES[code]) for code in wanted))
    else:
        for code, rule in RULES.items():
            typer.echo(f"{code}  {rule.severity:7}  {rule.summary}")


def _known(codes: Sequence[str]) -> list[str]:
    """Return the codes in upper case without duplicates."""
    written = [code.strip().upper() for code in codes]
    if unknown := [given for given, code in zip(codes, written, strict=True) if code not in RULES]:
        raise FindingsError(_unknown(given) for given in unknown)
    return list(dict.fromkeys(written))


def _unknown(given: str) -> Finding:
    near = difflib.get_close_matches(given.upper()[:100], RULES, n=1)
    return Finding(
        code="UC9501",
        problem=f"got {quote(given)}",
        allowed="a code such as UC4105; `ultracluster rules` lists them",
        remedy=f"Did you mean {near[0]}?" if near else "",
    )


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


def _explained(code: str, rule: Rule) -> str:
    parts = [
        ("Breaks it", _example(rule.fails)),
        ("Keeps it", _example(rule.passes)),
        ("What to do", _paragraph(rule.remedy)),
        ("Source", _paragraph(rule.source)),
    ]
    if rule.suppressible:
        parts.append(
            ("Switch it off", _paragraph(f"in a rollout file, with a reason: suppress: {{{code}: REASON}}"))
        )
    head = "\n".join(textwrap.wrap(f"{code}, {rule.severity}: {rule.summary}", _WIDTH))
    return "\n".join([head, *(f"\n  {title}:\n{text}" for title, text in parts), ""])


def _example(text: str) -> str:
    return textwrap.indent(text.strip(), "    ")


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
