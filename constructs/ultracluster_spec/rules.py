"""Rules: functions beside the values that they are about, and the collector that runs them.

A rule yields where a value breaks it. What is not readable or not known yet is an unset field: reading it ends the rule,
which keeps what it has yielded.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Self, TypeVar

from ultracluster_spec.findings import Finding
from ultracluster_spec.values import is_unset

_Subject = TypeVar("_Subject", contravariant=True)  # noqa: PLC0105 - a rule about more takes less
Place = tuple[str | int, ...]
"""The way to a field: names and indexes."""


@dataclass(frozen=True, slots=True)
class At:
    """A place at which a rule is broken: a field, or the way to it, with what is wrong."""

    path: str | Place
    problem: str
    allowed: str = ""
    remedy: str = ""
    code: str = ""
    """Code of a finding of a plain function, which other packages call too; else that of the rule."""

    @classmethod
    def of(cls, path: str | Place, finding: Finding) -> Self:
        """Return a finding of a plain function at a place."""
        return cls(path, finding.problem, finding.allowed, finding.remedy, finding.code)

    @classmethod
    def all(cls, findings: Iterable[Finding]) -> Iterator[Self]:
        """Return findings of a plain function at their own paths, which are names of fields."""
        return (cls.of(finding.path, finding) for finding in findings)


@dataclass(frozen=True, slots=True)
class Rule(Generic[_Subject]):
    """A rule about a value, with its code."""

    code: str
    function: Callable[[_Subject], Iterator[At]]

    def __call__(self, subject: _Subject) -> Iterator[At]:
        """Yield where the subject breaks the rule, as far as it is known."""
        try:
            yield from self.function(subject)
        except AttributeError as error:
            if not is_unset(error):
                raise


def rule(code: str = "") -> Callable[[Callable[[_Subject], Iterator[At]]], Rule[_Subject]]:
    """Make a rule of a function; its docstring says what is true when the rule holds.

    Several functions may have one code, and its record has its remedy, source and severity. A rule without a code passes
    on the findings of plain functions.
    """
    return partial(Rule, code)


def broken(rules: Iterable[Rule[_Subject]], subject: _Subject) -> Iterator[tuple[Place, Finding]]:
    """Yield the place and the finding of everything that breaks one of some rules."""
    for each in rules:
        for at in each(subject):
            place = (at.path,) if isinstance(at.path, str) else at.path
            yield (
                place,
                Finding(at.code or each.code, at.problem, at.allowed, at.remedy, path=path_text(place)),
            )


def findings(rules: Iterable[Rule[Any]], subject: Any) -> list[Finding]:
    """Return the findings of everything that breaks one of some rules."""
    return [finding for _, finding in broken(rules, subject)]


def path_text(place: Iterable[str | int]) -> str:
    """Return a place as people write it, such as ``associations[0].file_system_path``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place if part != "")[1:]
