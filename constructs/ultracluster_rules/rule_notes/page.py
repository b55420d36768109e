"""docs/rules.md, made of the registry: ``python -m ultracluster_rules.rule_notes.page`` writes it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ultracluster_rules.rule_notes import RuleNote, rule_sections
from ultracluster_rules.rules import RULES

__all__ = ["PAGE_FILE", "rules_page"]

PAGE_FILE: Final = Path("docs/rules.md")
"""Where the page is published, from the top of the repository."""

_HEAD: Final = """\
# The rules

<!-- Written by `make rules` from constructs/ultracluster_catalog: edit the notes there. -->

Every finding begins with the code of a rule. A code keeps its meaning for ever and is never used again. `ultracluster rules UC4105` prints
the entry of a rule, `ultracluster rules` lists all of them, and `--json` gives both to programs.

* An **error** stops the work. A **warning** is shown, and the work goes on.
* All findings of a file, or of a construct, are shown together, each with its place.
* Examples of rollout files are keys of one cluster, or a whole file. The tests run each of them through the loader, and each example in
  Python through the constructs: the first one breaks the rule, the second one keeps it. A situation in words names the test that shows it.
* A source with a date was read then. A source without one names where the fact is published; it was not read again for this page.

## Switch a warning off

Some warnings can be switched off where you know better, with a reason that the next reader understands. In a rollout file, for one cluster
or under `defaults` for all:

```yaml
suppress:
  UC4103: the block has three instances, see order december
```

The warning is then no longer shown, by no command; `ultracluster validate --json` lists it under `suppressed`, with the reason. Errors, and
warnings about money, data and security, stay. So does a warning that nobody has seen: a suppression that hits nothing is one itself.

In an app of your own, the CDK acknowledges our warnings by their id, for a construct and all in it:

```python
cdk.Validations.of(cluster).acknowledge(
    cdk.Acknowledgment(id="ultracluster:UC4103", reason="the block has three instances, see order december")
)
```
"""

_FENCES: Final = {"rollout": "yaml", "python": "python", "template": "yaml"}


def rules_page() -> str:
    """The text of docs/rules.md."""
    return "\n".join([_HEAD, *_contents(), *_entries()]).rstrip() + "\n"


def _contents() -> Iterator[str]:
    yield "## Contents\n"
    for section in rule_sections():
        codes = " ".join(f"[{code[-2:]}](#{code.lower()})" for code in section.notes)
        yield f"* **{section.prefix}, {section.title}**: {codes}"
    yield ""


def _entries() -> Iterator[str]:
    for section in rule_sections():
        yield f"## {section.prefix}, {section.title}\n"
        for code, note in section.notes.items():
            yield from _entry(code, note)


def _entry(code: str, note: RuleNote) -> Iterator[str]:
    rule = RULES[code]
    suppressible = ", can be switched off" if note.suppressible else ""
    yield f"### {code}\n"
    yield f"{rule.summary} ({rule.severity}{suppressible})\n"
    yield from _example("Breaks it", note.kind, note.fails)
    yield from _example("Keeps it", note.kind, note.passes)
    yield f"What to do: {note.remedy}\n"
    shown = f" Shown by `{note.shown_by}`." if note.shown_by else ""
    yield f"Source: {note.source}{shown}\n"


def _example(title: str, kind: str, text: str) -> Iterator[str]:
    if kind == "command":
        yield f"{title}: {text}\n"
    else:
        yield f"{title}:\n\n```{_FENCES[kind]}\n{text.strip()}\n```\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE_FILE
    target.write_text(rules_page(), encoding="utf-8")
