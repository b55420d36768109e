"""The page of all rules, rendered from the registry."""

from collections.abc import Iterator
from typing import Final

from ultracluster_rules.registry import Rule, rule_sections

__all__ = ["rules_page"]

_HEAD: Final = """\
# The rules

Every finding begins with the code of a rule. A code keeps its meaning for ever and is never used again. `ultracluster docs UC4105` prints
the entry of a rule, `ultracluster docs rules` lists all of them, and `--json` gives both to programs.

* An **error** stops the work. A **warning** is shown, and the work goes on.
* All findings of a file, or of a construct, are shown together, each with its place.
* Examples of rollout files are keys of one cluster, or a whole file. The tests run each of them through the loader, and each example in
  Python through the constructs: the first one breaks the rule, the second one keeps it. A situation in words names the test that shows it.
* A source with a date was read then. A source without one names where the fact is published; it was not read again for this page.
"""

_FENCES: Final = {"rollout": "yaml", "python": "python", "template": "yaml"}


def rules_page() -> str:
    """Render the page as Markdown."""
    return "\n".join([_HEAD, *_contents(), *_entries()]).rstrip() + "\n"


def _contents() -> Iterator[str]:
    yield "## Contents\n"
    for section in rule_sections():
        codes = " ".join(f"[{code[-2:]}](#{code.lower()})" for code in section.rules)
        yield f"* **{section.prefix}, {section.title}**: {codes}"
    yield ""


def _entries() -> Iterator[str]:
    for section in rule_sections():
        yield f"## {section.prefix}, {section.title}\n"
        for code, rule in section.rules.items():
            yield from _entry(code, rule)


def _entry(code: str, rule: Rule) -> Iterator[str]:
    suppressible = ", can be switched off" if rule.suppressible else ""
    yield f"### {code}\n"
    yield f"{rule.summary} ({rule.severity}{suppressible})\n"
    yield from _example("Breaks it", rule.kind, rule.fails)
    yield from _example("Keeps it", rule.kind, rule.passes)
    yield f"What to do: {rule.remedy}\n"
    shown = f" Shown by `{rule.shown_by}`." if rule.shown_by else ""
    yield f"Source: {rule.source}{shown}\n"


def _example(title: str, kind: str, text: str) -> Iterator[str]:
    if kind == "command":
        yield f"{title}: {text}\n"
    else:
        yield f"{title}:\n\n```{_FENCES[kind]}\n{text.strip()}\n```\n"
