"""Read plain YAML scalars strictly: values that YAML 1.1 and 1.2 read differently are refused.

YAML 1.1 reads ``no`` as false, ``010`` as 8 and ``12:30:00`` as 45000; YAML 1.2 does not. Dates stay strings.
"""

import re
from typing import Final

from ultracluster_spec.credentials import shown
from ultracluster_spec.findings import quote
from ultracluster_spec.record import RuleRecord
from ultracluster_stacks.config.reading.problem import Loc, Problem

Scalar = str | int | float | bool | None

# The largest integer that JSON, and so CloudFormation and jsii, represent exactly.
LARGEST_NUMBER: Final = 2**53

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_DIGITS_READ: Final = 17  # a float cannot represent more digits

_OTHER_NUMBER: Final = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F_]++|0[oO][0-7_]++|0[bB][01_]++"
    r"|(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][-+]?[0-9]++)?)"  # such as 010, 1_6, +5, 5., .5, 1e5
)
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)")
_TIME_OF_DAY: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_AMBIGUOUS_WORD: Final = re.compile(r"(?:y|n|yes|no|on|off|true|false|null)", re.IGNORECASE)


def read_plain_scalar(text: str, loc: Loc) -> Scalar | Problem:
    """Read a scalar without quotes and without a tag, or return a problem if the text is ambiguous."""
    if text in {"", "~", "null"}:
        return None
    if text in {"true", "false"}:
        return text == "true"
    if _AMBIGUOUS_WORD.fullmatch(text):
        problem = f"got {text} without quotes, which some YAML parsers read as a boolean or null"
        allowed = "true, false or null in lower case, or text in quotes"
        remedy = f'Write true or false, or "{text}" for the text'
        return Problem.of(loc, "UC1015", problem, allowed=allowed, remedy=remedy)
    if _INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text):
        return _read_number(text, loc)
    return _unclear_number(text, loc) or text


def _read_number(text: str, loc: Loc) -> int | float | Problem:
    digits = sum(character.isdigit() for character in text)
    number = None if digits > _DIGITS_READ else float(text) if "." in text else int(text)
    if number is not None and abs(number) < LARGEST_NUMBER:
        return number
    problem = f"got the number {_cut(text)}, which is out of range"
    allowed = "numbers below 2^53 with at most 17 digits"
    remedy = 'Write text that consists of digits, such as an account, in quotes: "012345678901"'
    return Problem.of(loc, "UC1014", problem, allowed=allowed, remedy=remedy)


def _unclear_number(text: str, loc: Loc) -> Problem | None:
    if _NOT_FINITE.fullmatch(text):
        return Problem.of(loc, "UC1014", f"got {text}", allowed="a finite number in plain decimal")
    if _TIME_OF_DAY.fullmatch(text):
        problem = f"got {_cut(text)} without quotes, which some YAML readers interpret as a base-60 number"
        allowed = 'times in quotes, as ISO 8601 in UTC: "2026-12-01T11:30:00Z"'
        return Problem.of(loc, "UC1016", problem, allowed=allowed, remedy="Write it in quotes")
    if _OTHER_NUMBER.fullmatch(text):
        return Problem.of(
            loc,
            "UC1013",
            f"got {_cut(text)}, which YAML readers interpret as different numbers or as text",
            allowed="a number in plain decimal such as 16, or text in quotes",
            remedy=f"Write plain decimal; if it is text, such as an account, write it in quotes: {_quoted(text)}",
        )
    return None


def _cut(text: str) -> str:
    return quote(text).strip("'")


def _quoted(text: str) -> str:
    return '"' + shown(text).strip("'") + '"'


RECORDS: Final = (
    RuleRecord(
        "UC1013",
        "A number is written in plain decimal.",
        remedy="Write the number in plain decimal. If it is text, such as an account with a zero in front, write it in quotes.",
        source="YAML 1.1 reads 010 as 8 and YAML 1.2.2 (2021-10-01) as 10.",
        example="nodes: 8",
    ),
    RuleRecord(
        "UC1014",
        "A number is finite and keeps its value in JSON.",
        remedy="Write a finite number below 2^53; write digits that are not a number, such as an account, in quotes.",
        source="RFC 8259 (2017-12), section 6: JSON has no NaN, and numbers above 2^53 lose digits on their way to CloudFormation.",
        example="nodes: 4",
    ),
    RuleRecord(
        "UC1015",
        "A Boolean value is written true or false.",
        remedy="Write true or false for a Boolean value, and quotes around the word for text.",
        source="YAML 1.1 reads yes, no, on, off, y and n as truth values; YAML 1.2.2 (2021-10-01) does not.",
        example='tags: {spot: "no"}',
    ),
    RuleRecord(
        "UC1016",
        "A time of day is written in quotes.",
        remedy="Write it in quotes, so that YAML does not read it as a number.",
        source="YAML 1.1 reads 12:30:00 as the number 45000 to base 60; YAML 1.2.2 (2021-10-01) as text.",
        example='tags: {from: "12:30:00"}',
    ),
)
