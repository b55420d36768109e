"""Findings: problems with a stable code, or of a command that failed, shown as one line each.

The format of a line is fixed, so that people can search for it and tools can parse it::

    UC4101: rollout.yaml:12: waves[0].clusters[0].nodes: got 0. Allowed: 1 to 1000. Set the nodes of the block.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

Place = TypeVar("Place")
Result = TypeVar("Result")

_QUOTE_LIMIT = 76  # with an indent and punctuation, a line of a terminal of 80 columns
_LARGEST_TOKEN = -1.8881545897087e289  # the CDK encodes number tokens as doubles below this


class Severity(StrEnum):
    """Severity of a finding: errors stop the work, warnings are shown, information is shown on request."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def is_number_token(value: Any) -> bool:
    """Return whether a number is a token of the CDK; asking the CDK would be a jsii call, which fails for NaN."""
    return isinstance(value, float) and -math.inf < value <= _LARGEST_TOKEN


def is_token(value: Any) -> bool:
    """Return whether a text contains a token of the CDK, or a number is one; like `Token.is_unresolved`, without a jsii call."""
    return "${Token[" in value if isinstance(value, str) else is_number_token(value)


def quote(value: Any) -> str:
    """Return a user's value as an ASCII Python literal of at most 76 characters.

    ASCII reveals homoglyphs and bidirectional marks.
    """
    if is_token(value):
        return "a token, which has no value before deployment"
    try:
        text = ascii(value)
    except ValueError:  # Python does not convert integers of more than 4,300 digits
        text = "a number of more than 4,300 digits"
    return text if len(text) <= _QUOTE_LIMIT else text[: _QUOTE_LIMIT - 3] + "..."


def printable(text: str) -> str:
    """Return a text with escapes instead of characters that control a terminal or cannot be encoded."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in "\n\t" else ascii(character)[1:-1]
        for character in text
    )


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with its place, the allowed values and a remedy.

    Attributes:
        code: A code of `ultracluster docs rules`, such as ``UC4101``; empty if the message says everything, as that of a command
            that was called wrongly.
        problem: Description of the problem, with the value.
        allowed: Allowed values. Default: not stated.
        remedy: What to do. Default: not stated.
        path: Path in the input, such as ``waves[0].clusters[0].nodes``. Default: none.
        location: File and line, such as ``rollout.yaml:12``, or path of a construct. Default: none.
    """

    code: str
    problem: str
    allowed: str = ""
    remedy: str = ""
    path: str = ""
    location: str = ""

    @classmethod
    def message(cls, problem: str, **fields: str) -> "Finding":
        """Create a finding without a code, which has nothing to look up or to suppress."""
        return cls("", problem, **fields)

    def at(self, path: str, location: str = "") -> "Finding":
        """Return the same finding at a place of the input."""
        return replace(self, path=path, location=location)

    def __str__(self) -> str:
        where = "".join(f"{part}: " for part in (self.location, self.path) if part)
        sentences = [self.problem, f"Allowed: {self.allowed}" if self.allowed else "", self.remedy]
        text = " ".join(s if s.endswith("?") else s.rstrip(".") + "." for s in sentences if s)
        return printable(f"{self.code or 'error'}: {where}{text}".replace("\r\n", " ").replace("\n", " "))


def require(holds: object, code: str, problem: str, **fields: str) -> list[Finding]:
    """Return no finding if a condition holds, else the one with these fields; see `Finding`."""
    return [] if holds else [Finding(code, problem, **fields)]


@dataclass(frozen=True)
class Located(Generic[Place]):
    """A finding at a place of a document, before its path, file and line are known."""

    place: Place
    finding: Finding

    @classmethod
    def of(cls, place: Place, code: str, problem: str, allowed: str = "", remedy: str = "") -> Self:
        """Create a finding at a place; see `Finding`."""
        return cls(place, Finding(code, problem, allowed, remedy))


class FindingsError(ValueError):
    """One or more findings that stop the work; `str()` returns one line for each.

    Attributes:
        findings: All findings, in the order of the input.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))

    @classmethod
    def of(cls, code: str, problem: str, **fields: str) -> Self:
        """Create the error of one finding; see `Finding`."""
        return cls([Finding(code, problem, **fields)])

    @classmethod
    def message(cls, problem: str, **fields: str) -> Self:
        """Create the error of one finding without a code; see `Finding.message`."""
        return cls([Finding.message(problem, **fields)])

    def within(self, location: str) -> Self:
        """Return the error with a location for the findings that have none."""
        return type(self)(
            finding if finding.location else replace(finding, location=location) for finding in self.findings
        )


def reject(findings: Iterable[Finding]) -> None:
    """Raise FindingsError if there are findings."""
    if found := tuple(findings):
        raise FindingsError(found)


def collect(findings: list[Finding], check: Callable[[], Result]) -> Result | None:
    """Return the result of a check, or add the findings that it raises to others and return None."""
    try:
        return check()
    except FindingsError as error:
        findings += error.findings
        return None
