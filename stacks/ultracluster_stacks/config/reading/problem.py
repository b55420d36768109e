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
"""Location of a value: keys and indexes from the top level, such as ``("waves", 0, "name")``."""


def loc_text(loc: Loc) -> str:
    """Format a location such as ``waves[0].clusters[0].nodes``; unusual keys are quoted in ASCII."""
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
    """Format a user's value in at most 80 ASCII characters, with credentials hidden."""
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
    """A problem at a location of the rollout.

    Attributes:
        loc: Location of the value, present or missing.
        code: Code of the rule in `ultracluster_rules.registry`.
        problem: What is wrong, with the actual value.
        allowed: Allowed values. Default: omitted.
        remedy: What to do. Default: omitted.
        line: Line in the file. Default: the line of the value at `loc`.
    """

    loc: Loc
    code: str
    problem: str
    allowed: str = ""
    remedy: str = ""
    line: int | None = None

    @classmethod
    def of(cls, finding: Finding, loc: Loc) -> "Problem":
        """Return the problem for a finding of a shared rule.

        Args:
            finding: Finding of the rule.
            loc: Location of the value in the rollout.
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
        """Return the problem with a prefix added to its location."""
        return replace(self, loc=(*prefix, *self.loc))

    def finding(self, *, loc: Loc | None = None, location: str = "") -> Finding:
        """Return the finding to show.

        Args:
            loc: Location of the value in the file. Default: its location in the rollout.
            location: File and line. Default: omitted.
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
    """Return the problem of a value with the wrong type.

    Args:
        loc: Location of the value.
        value: Actual value.
        allowed: Description of the allowed type.
        remedy: What to do. Default: omitted.
    """
    return Problem(loc=loc, code="UC1022", problem=f"got {shown(value)}", allowed=allowed, remedy=remedy)


def not_a_choice(loc: Loc, value: object, choices: Collection[str], *, remedy: str = "") -> Problem:
    """Return the problem of a value that is not one of the choices.

    Args:
        loc: Location of the value.
        value: Actual value.
        choices: Allowed values.
        remedy: What to do. Default: omitted.
    """
    return Problem(
        loc=loc, code="UC1023", problem=f"got {shown(value)}", allowed=", ".join(choices), remedy=remedy
    )


def unknown_key(loc: Loc, known: Collection[str], *, of: str = "") -> Problem:
    """Return the problem of an unknown key.

    Args:
        loc: Location of the key.
        known: Allowed keys.
        of: Description of the mapping, if the location does not identify it. Default: omitted.
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
        problem: Description of the credential, without its value.
        loc: Location of the value. Default: unknown.
        line: Line in the file. Default: the line of the value.
    """
    return Problem(
        loc=loc,
        code="UC2108",
        problem=problem,
        allowed="no credentials",
        remedy="Remove it from the file, rotate it, and let the job read it from AWS Secrets Manager",
        line=line,
    )
