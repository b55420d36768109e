"""How every layer says that something is wrong: one line per problem, with a stable code.

The form of a line is fixed, so that people can search for it and tools can read it::

    UC4101: rollout.yaml:12: waves[0].clusters[0].nodes: got 0. Allowed: 1 to 1000. Set the nodes of the block.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["Finding", "FindingsError", "Severity", "quote"]

_QUOTE_LIMIT = 80


class Severity(StrEnum):
    """How a finding ends: an error stops, a warning is shown and work goes on, information is for who asks."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def quote(value: Any) -> str:
    """Show a value that a user gave: as Python writes it, ASCII only, cut to 80 characters.

    ASCII only, so that a homoglyph or a bidirectional mark in the value cannot hide.
    """
    try:
        text = ascii(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = "a number of more than 4,300 digits"
    return text if len(text) <= _QUOTE_LIMIT else text[: _QUOTE_LIMIT - 3] + "..."


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One problem: where it is, what was got, what is allowed and what to do.

    Attributes:
        code: A code of `ultracluster_rules.rules`, such as ``UC4101``.
        problem: What is wrong, with the value got.
        allowed: What would be right. Default: not said.
        remedy: What to do. Default: not said, where `allowed` says it already.
        path: Where in the input, such as ``waves[0].clusters[0].nodes``. Default: not said.
        location: File and line, such as ``rollout.yaml:12``. Default: not said.
    """

    code: str
    problem: str
    allowed: str = ""
    remedy: str = ""
    path: str = ""
    location: str = ""

    @property
    def severity(self) -> Severity:
        """Whether the rule behind this finding stops the work.

        Raises:
            KeyError: If the code is not registered.
        """
        # Lambda functions import this module, and carry no texts of rules.
        from ultracluster_rules.rules import RULES  # noqa: PLC0415

        if self.code not in RULES:
            raise KeyError(f"{self.code} is not registered in ultracluster_rules.rules")
        return Severity(RULES[self.code].severity)

    def __str__(self) -> str:
        where = "".join(f"{part}: " for part in (self.location, self.path) if part)
        sentences = [self.problem, f"Allowed: {self.allowed}" if self.allowed else "", self.remedy]
        said = " ".join(s if s.endswith("?") else s.rstrip(".") + "." for s in sentences if s)
        return f"{self.code}: {where}{said}"


class FindingsError(ValueError):
    """One or more findings that stop the work; `str()` gives one line for each.

    Attributes:
        findings: All problems that were seen, in the order of the input.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))
