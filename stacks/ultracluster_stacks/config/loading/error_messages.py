"""Translate pydantic errors into problems with a code."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ultracluster_spec.credentials import shown
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.values import Value, annotations
from ultracluster_stacks.config.reading.partial import part_of
from ultracluster_stacks.config.reading.problem import (
    Loc,
    Problem,
    not_a_choice,
    unknown_key,
    wrong_type,
)
from ultracluster_stacks.config.reading.yaml_source import UNREADABLE

MISSING: Final = "UC1021"
"""Code of the rule about missing required values."""

MOST_PROBLEMS: Final = 1_000
"""Maximum number of reported problems; a file with more is hardly a rollout."""


_ALLOWED: Final[Mapping[str | int, str]] = {
    "account": "12 digits in quotes",
    "file_system": "a mapping of settings, or none for a cluster without a file system",
}
_UNKNOWN_KEY: Final = "unexpected_keyword_argument"


def translate(
    error: ValidationError, part: type[Value], *, additional_keys: Collection[str] = ()
) -> list[Problem]:
    """Return the problems of a pydantic error, except those that the YAML reader reported."""
    problems = []
    for details in error.errors(include_url=False)[: MOST_PROBLEMS + 1]:
        if details["input"] is UNREADABLE and details["type"] != _UNKNOWN_KEY:
            continue
        loc = _loc(details)
        if details["type"] == _UNKNOWN_KEY:
            more = additional_keys if len(loc) == 1 else ()
            problems.append(unknown_key(loc, (*more, *annotations(_part_at(part, loc[:-1])))))
        elif details["type"] == "value_error" and isinstance(
            refused := details["ctx"]["error"], FindingsError
        ):
            problems.append(Problem(loc, refused.findings[0]))
        else:
            problems.append(_BY_TYPE.get(details["type"], _untranslated)(loc, details))
    return problems


def unread_locs(error: ValidationError) -> frozenset[Loc]:
    """Return the locations of all values that pydantic refused."""
    return frozenset(_loc(details) for details in error.errors(include_url=False))


def _loc(details: ErrorDetails) -> Loc:
    loc = details["loc"]
    return loc[:-1] if loc and loc[-1] == "[key]" else loc


def _part_at(part: type[Value], loc: Loc) -> type[Value]:
    for name in loc:
        if isinstance(name, str):
            part = part_of(annotations(part)[name]) or part
    return part


_Translation = Callable[[Loc, Mapping[str, Any]], Problem]


def _wrong_type(expected: str) -> _Translation:
    def translation(loc: Loc, details: Mapping[str, Any]) -> Problem:
        got, allowed = details["input"], _ALLOWED.get(loc[-1] if loc else "", expected)
        if got is None:
            return _missing(loc, details, allowed)
        remedy = ""
        if expected == "text" and isinstance(got, (bool, int, float)):
            remedy = f'Write it in quotes: "{shown(got)}"'
        elif (
            expected not in {"text", "a mapping"} and isinstance(got, str) and got.isascii() and got.isalnum()
        ):
            remedy = "Write it without quotes"
        return wrong_type(loc, got, allowed=allowed, remedy=remedy)

    return translation


def _missing(loc: Loc, details: Mapping[str, Any], expected: str = "") -> Problem:
    name = loc[-1] if loc else "the rollout"
    suffix = " and has no value" if details["input"] is None else ""
    return Problem.of(loc, MISSING, f"{name} is required{suffix}", allowed=expected)


def _not_a_choice(loc: Loc, details: Mapping[str, Any]) -> Problem:
    got = details["input"]
    choices = details["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
    if got is None:
        return _missing(loc, details, ", ".join(choices))
    return not_a_choice(loc, got, choices, remedy=suggestion(str(got), choices))


def _untranslated(loc: Loc, details: Mapping[str, Any]) -> Problem:
    problem = wrong_type(loc, details["input"], allowed="")
    return Problem(loc, replace(problem.finding, problem=f"{problem.finding.problem}, which is invalid here"))


_BY_TYPE: Final[Mapping[str, _Translation]] = {
    "bool_type": _wrong_type("true or false"),
    "datetime_type": _wrong_type('ISO 8601 in UTC in quotes, such as "2026-12-01T11:30:00Z"'),
    "dict_type": _wrong_type("a mapping"),
    "int_type": _wrong_type("a whole number"),
    "literal_error": _not_a_choice,
    "missing": _missing,
    "dataclass_type": _wrong_type("a mapping"),
    "string_type": _wrong_type("text"),
    "tuple_type": _wrong_type("a list"),
}

TRANSLATED_TYPES: Final = frozenset({*_BY_TYPE, _UNKNOWN_KEY, "value_error"})
"""Translated pydantic error types; a test proves that no others can occur."""

RECORDS: Final = (
    RuleRecord(
        "UC1021",
        "Every value without a default is specified.",
        remedy="Set the value in the cluster, or under `defaults` for all clusters.",
        source="Our decision: what decides about cost or place has no default.",
        example="region: us-east-2",
    ),
)
