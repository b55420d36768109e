"""Rules of composite alarms: states of other alarms combined with AND, OR and NOT."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

__all__ = ["is_in_alarm"]

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<state>ALARM|OK|INSUFFICIENT_DATA)\s*\(\s*(?:"(?P<quoted>[^"]+)"|(?P<plain>[^\s()"]+))\s*\)"""
    r"""|(?P<word>AND|OR|NOT|TRUE|FALSE|\(|\)))\s*""",
    re.IGNORECASE,
)


def is_in_alarm(rule: str, states: Mapping[str, str]) -> bool:
    """Return whether a composite alarm is in the ALARM state.

    Args:
        rule: Alarm rule, such as ``ALARM("a") OR (ALARM("b") AND NOT OK("c"))``.
        states: Alarm states by name.

    Raises:
        ValueError: If the rule is malformed or names an unknown alarm.
    """
    tokens = list(_tokens(rule, states))
    value, rest = _any_of(tokens)
    if rest:
        raise ValueError(f"malformed rule of a composite alarm: {rule}")
    return value


def _tokens(rule: str, states: Mapping[str, str]) -> Iterator[str | bool]:
    position = 0
    while position < len(rule):
        found = _TOKEN.match(rule, position)
        if found is None:
            raise ValueError(f"malformed rule of a composite alarm: {rule}")
        position = found.end()
        if found["word"]:
            yield found["word"].upper()
            continue
        name = (found["quoted"] or found["plain"]).rpartition(":alarm:")[2]
        if name not in states:
            raise ValueError(f"a composite alarm refers to {name}, which does not exist")
        yield states[name] == found["state"].upper()


def _joined(
    tokens: list[str | bool], word: str, operand: Callable[[list[str | bool]], tuple[bool, list[str | bool]]]
) -> tuple[bool, list[str | bool]]:
    value, rest = operand(tokens)
    while rest and rest[0] == word:
        other, rest = operand(rest[1:])
        value = value or other if word == "OR" else value and other
    return value, rest


def _any_of(tokens: list[str | bool]) -> tuple[bool, list[str | bool]]:
    return _joined(tokens, "OR", _all_of)


def _all_of(tokens: list[str | bool]) -> tuple[bool, list[str | bool]]:
    return _joined(tokens, "AND", _one)


def _one(tokens: list[str | bool]) -> tuple[bool, list[str | bool]]:
    match tokens:
        case [bool() as value, *rest]:
            return value, rest
        case ["TRUE" | "FALSE" as word, *rest]:
            return word == "TRUE", rest
        case ["NOT", *rest]:
            value, rest = _one(rest)
            return not value, rest
        case ["(", *rest]:
            value, rest = _any_of(rest)
            if rest and rest[0] == ")":
                return value, rest[1:]
    raise ValueError("malformed rule of a composite alarm")
