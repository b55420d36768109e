"""The registry of the rules: one record for each code, in TOML files that are loaded on demand.

A code is never reused. UC1 file and YAML, UC2 identity and names, UC3 network, UC4 compute and capacity, UC5 storage,
UC6 jobs and queues, UC7 buying capacity, UC8 local AWS, UC9 tools. A file ``uc41.toml`` holds the rules UC4100 to UC4199,
under a title. Lambda functions carry none of this.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

__all__ = ["RULES", "Rule", "RuleSection", "rule_sections"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """The record of one rule.

    Attributes:
        summary: What holds when the rule is kept, in one sentence.
        severity: ``error`` stops the work; ``warning`` is shown; ``info`` is shown on request.
        kind: What the examples are. ``rollout``: keys of a cluster in a rollout file, or a whole file when they start
            with ``version:``. ``python``: code with the names of `ultracluster` and a ``stack``. ``template``: a part of a
            CloudFormation template. ``command``: a situation, in words.
        fails: An example that breaks the rule.
        passes: The nearest example that keeps it.
        remedy: What to do about it, in one or two sentences.
        source: Where the rule comes from: a document with its date, or a decision of ours with its reason.
        in_templates: Whether `ultracluster validate` finds it in templates.
        never_left_out: Whether it cannot be left out there: nodes that cost without working, purchases, open doors and
            credentials.
        suppressible: Whether the rule may be switched off with a reason.
        exit_code: Exit code of a command that ends with a finding of the rule. Default: 2, the code of findings.
        shown_by: The test that shows a ``command``, as ``path::name``. Default: none, since the examples are executed.
    """

    summary: str
    severity: Literal["error", "warning", "info"] = "error"
    kind: Literal["rollout", "python", "template", "command"]
    fails: str
    passes: str
    remedy: str
    source: str
    in_templates: bool = False
    never_left_out: bool = False
    suppressible: bool = False
    exit_code: int = 2
    shown_by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleSection:
    """Rules whose codes share a prefix, such as ``UC41``, in the order of the codes."""

    prefix: str
    title: str
    rules: Mapping[str, Rule]


def rule_sections() -> tuple[RuleSection, ...]:
    """Return all sections, in the order of the codes."""
    return tuple(_section(prefix) for prefix in _prefixes())


class _Registry(Mapping[str, Rule]):
    """All rules by code; a lookup reads one file."""

    def __getitem__(self, code: str) -> Rule:
        prefix = code[:4]
        if prefix not in _prefixes():
            raise KeyError(code)
        return _section(prefix).rules[code]

    def __iter__(self) -> Iterator[str]:
        return (code for section in rule_sections() for code in section.rules)

    def __len__(self) -> int:
        return sum(len(section.rules) for section in rule_sections())


RULES: Final[Mapping[str, Rule]] = _Registry()
"""Every rule by its code, in the order of the codes."""

_FOLDER: Final = Path(__file__).parent


@cache
def _prefixes() -> tuple[str, ...]:
    return tuple(sorted(file.stem.upper() for file in _FOLDER.glob("uc*.toml")))


@cache
def _section(prefix: str) -> RuleSection:
    table = tomllib.loads((_FOLDER / f"{prefix.lower()}.toml").read_text(encoding="utf-8"))
    title = table.pop("title")
    rules = {code: Rule(**record) for code, record in sorted(table.items())}
    return RuleSection(prefix=prefix, title=title, rules=rules)
