"""Rules for one value: the form of a text, the bounds of a number, or a table of names.

Constructs, the configuration and the template checks share them; each finding is without a path, which the caller adds.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from ultracluster_rules.credentials import hide_credentials
from ultracluster_rules.findings import Finding, quote


def _got(value: Any) -> str:
    return f"got {quote(hide_credentials(value) if isinstance(value, str) else value)}"


# Rules are never compared or printed, and generating these methods takes four times as long as the rest of the class.
@dataclass(kw_only=True, eq=False, repr=False)
class Form:
    """A text matches a pattern.

    Attributes:
        code: Code of the rule.
        pattern: Regular expression that the whole text matches; of the subset that JSON schema knows too.
        allowed: The form in words, with an example.
        explain: Returns a remedy for a wrong text. Default: no remedy.
    """

    code: str
    pattern: str
    allowed: str
    explain: Callable[[str], str] | None = None

    def check(self, value: str, *, path: str = "") -> list[Finding]:
        """Return a finding if the text has another form."""
        if re.fullmatch(self.pattern, value):
            return []
        remedy = "" if self.explain is None else self.explain(value)
        return [Finding(code=self.code, problem=_got(value), allowed=self.allowed, remedy=remedy, path=path)]


@dataclass(kw_only=True, eq=False, repr=False)
class Between:
    """A number is within bounds, both included."""

    code: str
    least: int
    most: int
    remedy: str = ""

    def check(self, value: float, *, path: str = "") -> list[Finding]:
        """Return a finding if the number is out of bounds."""
        if self.least <= value <= self.most:
            return []
        allowed = f"{self.least:,} to {self.most:,}"
        return [Finding(code=self.code, problem=_got(value), allowed=allowed, remedy=self.remedy, path=path)]


@dataclass(kw_only=True, eq=False, repr=False)
class Known:
    """A text is one of the known names."""

    code: str
    names: Collection[str]
    explain: Callable[[str], str]

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return a finding if there is no such name."""
        if value in self.names:
            return []
        return [
            Finding(
                code=self.code,
                problem=_got(value),
                allowed=", ".join(self.names),
                remedy=self.explain(str(value)),
                path=path,
            )
        ]
