"""A problem in a rollout, before file and line are known."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from ultracluster_rules.credentials import hide_credentials
from ultracluster_rules.did_you_mean import suggestion
from ultracluster_rules.findings import Finding, Severity, quote
from ultracluster_rules.registry import RULES

__all__ = [
    "Loc",
    "Problem",
    "credential",
    "loc_text",
    "not_a_choice",
    "shown",
    "unknown_key",
    "wrong_type",
]

Loc = tuple[str | int, ...]
"""Place of a value: keys and indexes from the top of the file, such as ``("waves", 0, "name")``."""


def loc_text(loc: Loc) -> str:
    """Format a place such as ``waves[0].clusters[0].nodes``; unusual keys are quoted, in ASCII."""
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
    """Format a value of the user in ASCII, at most 80 characters; credentials are hidden."""
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
        code: A code of `ultracluster_rules.registry`.
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

    @classmethod
    def of(cls, finding: Finding, loc: Loc) -> "Problem":
        """Return the problem that a rule of the catalogue has found.

        Args:
            finding: What it has found.
            loc: Where the value stands in the rollout.
        """
        return cls(
            loc=loc,
            code=finding.code,
            problem=finding.problem,
            allowed=finding.allowed,
            remedy=finding.remedy,
        )

    @property
    def severity(self) -> Severity:
        """Severity of the rule."""
        return Severity(RULES[self.code].severity)

    def under(self, prefix: Loc) -> "Problem":
        """Return the same problem with a place that starts further up."""
        return replace(self, loc=(*prefix, *self.loc))

    def finding(self, *, loc: Loc | None = None, location: str = "") -> Finding:
        """Return the finding to show.

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


def wrong_type(loc: Loc, value: object, *, allowed: str, remedy: str = "") -> Problem:
    """Return the problem of a value of another type.

    Args:
        loc: Place of the value.
        value: The value.
        allowed: The type in words.
        remedy: What to do. Default: not said.
    """
    return Problem(loc=loc, code="UC1022", problem=f"got {shown(value)}", allowed=allowed, remedy=remedy)


def not_a_choice(loc: Loc, value: object, choices: Collection[str], *, remedy: str = "") -> Problem:
    """Return the problem of a value that is none of the choices.

    Args:
        loc: Place of the value.
        value: The value.
        choices: The choices.
        remedy: What to do. Default: not said.
    """
    return Problem(
        loc=loc, code="UC1023", problem=f"got {shown(value)}", allowed=", ".join(choices), remedy=remedy
    )


def unknown_key(loc: Loc, known: Collection[str], *, of: str = "") -> Problem:
    """Return the problem of a key that a mapping does not take.

    Args:
        loc: Place of the key.
        known: Keys that the mapping takes.
        of: What the mapping is, where that is not plain from the place. Default: not said.
    """
    key = str(loc[-1])
    return Problem(
        loc=loc,
        code="UC1020",
        problem=f"unknown key {shown(key)}" + (f" of {of}" if of else ""),
        allowed=", ".join(known),
        remedy=suggestion(key, known),
    )


def credential(problem: str, *, loc: Loc = (), line: int | None = None) -> Problem:
    """Return the problem of a credential in the file.

    Args:
        problem: What is a credential, without showing it.
        loc: Place of the value. Default: not known here.
        line: Line in the file. Default: that of the value.
    """
    return Problem(
        loc=loc,
        code="UC2108",
        problem=problem,
        allowed="no credentials",
        remedy="Take it out of the file, renew it, and let the job read it from AWS Secrets Manager",
        line=line,
    )
