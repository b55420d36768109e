"""A problem in a rollout, before file and line are known."""

from dataclasses import dataclass, replace

from ultracluster_rules.credentials import hide_credentials
from ultracluster_rules.findings import Finding, Severity, quote
from ultracluster_rules.rules import RULES

__all__ = ["Loc", "Problem", "loc_text", "shown"]

Loc = tuple[str | int, ...]
"""Where a value stands: the keys and indexes from the top, such as ``("waves", 0, "name")``."""


def loc_text(loc: Loc) -> str:
    """Write a place as people do: ``waves[0].clusters[0].nodes``, with odd keys in quotes and in ASCII."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isascii() and part.replace("-", "_").isidentifier():
            text += f".{part}" if text else part
        else:
            text += f"[{shown(part)}]"
    return text


def shown(value: object) -> str:
    """Show a value that a user gave, in ASCII, cut to 80 characters and never when it is a credential."""
    if isinstance(value, str):
        return quote(hide_credentials(value))
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return quote(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One problem at a place of the rollout.

    Attributes:
        loc: Where the value stands, or, for a value that is missing, would stand.
        code: A code of `ultracluster_rules.rules`.
        problem: What is wrong, with the value got.
        allowed: What would be right. Default: not said.
        remedy: What to do. Default: not said, where `allowed` says it already.
        line: The line in the file. Default: that of the value at `loc`.
    """

    loc: Loc
    code: str
    problem: str
    allowed: str = ""
    remedy: str = ""
    line: int | None = None

    @property
    def severity(self) -> Severity:
        """Whether the rule behind this problem stops the work."""
        return Severity(RULES[self.code].severity)

    def under(self, prefix: Loc) -> "Problem":
        """The same problem, seen from further up."""
        return replace(self, loc=(*prefix, *self.loc))

    def finding(self, *, loc: Loc | None = None, location: str = "") -> Finding:
        """The finding that people see.

        Args:
            loc: Where the value stands in the file. Default: where it stands in the rollout.
            location: File and line. Default: not said.
        """
        return Finding(
            code=self.code,
            problem=self.problem,
            allowed=self.allowed,
            remedy=self.remedy,
            path=loc_text(self.loc if loc is None else loc),
            location=location,
        )
