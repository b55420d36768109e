"""What people are told about each rule: an example that breaks it, one that keeps it, a remedy and a source.

A file ``uc41.toml`` holds the notes of the rules UC4100 to UC4199, under a title. The sentences and severities are in
`ultracluster_rules.rules`, which goes into Lambda functions; these texts stay outside, and a file is read only when
somebody asks about one of its rules.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from ultracluster_rules.rules import RULES

__all__ = ["RuleNote", "RuleSection", "all_rule_notes", "rule_note", "rule_sections"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleNote:
    """What is said about one rule beyond its sentence.

    Attributes:
        kind: What the examples are. ``rollout``: keys of a cluster in a rollout file, or a whole file when they start
            with ``version:``. ``python``: code with the names of `ultracluster` and a ``stack``. ``template``: a part of a
            CloudFormation template. ``command``: a situation, in words.
        fails: An example that breaks the rule.
        passes: The nearest example that keeps it.
        remedy: What to do about it, in one or two sentences.
        source: Where the rule comes from: a document with its date, or a decision of ours with its reason.
        suppressible: Whether the rule may be switched off with a reason. Default: no.
        shown_by: The test that shows a ``command``, as ``path::name``. Default: none, since the examples are executed.
    """

    kind: Literal["rollout", "python", "template", "command"]
    fails: str
    passes: str
    remedy: str
    source: str
    suppressible: bool = False
    shown_by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleSection:
    """Rules whose codes begin alike.

    Attributes:
        prefix: How the codes begin, such as ``UC41``.
        title: What the rules are about.
        notes: The notes by code, in the order of the codes.
    """

    prefix: str
    title: str
    notes: Mapping[str, RuleNote]


def rule_note(code: str) -> RuleNote:
    """What is said about one rule.

    Args:
        code: The code of a rule.

    Raises:
        KeyError: If there is no such rule.
    """
    if code not in RULES:
        raise KeyError(code)
    return _section(_prefix(code)).notes[code]


def rule_sections() -> tuple[RuleSection, ...]:
    """All sections, in the order of the codes."""
    return tuple(_section(prefix) for prefix in sorted({_prefix(code) for code in RULES}))


def all_rule_notes() -> Mapping[str, RuleNote]:
    """What is said about every rule, in the order of the codes."""
    return {code: note for section in rule_sections() for code, note in section.notes.items()}


def _prefix(code: str) -> str:
    return code[:4]


@cache
def _section(prefix: str) -> RuleSection:
    text = (files(__name__) / f"{prefix.lower()}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    title = table.pop("title")
    notes = {code: RuleNote(**note) for code, note in sorted(table.items())}
    return RuleSection(prefix=prefix, title=title, notes=notes)
