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

    @classmethod
    def of_all(cls, path: str | Place, findings: Iterable[Finding]) -> Iterator[Self]:
        """Return findings of a plain function at one place."""
        return (cls.of(path, finding) for finding in findings)


@dataclass(frozen=True, slots=True)
class Rule(Generic[_Subject]):
    """A rule about a value, with its code."""

    code: str
    function: Callable[[_Subject], Iterator[At]]

    def __call__(self, subject: _Subject) -> Iterator[At]:
        """Yield where the subject breaks the rule, as far as it is known."""
        return _as_far_as_known(self.function(subject))


def rule(code: str = "") -> Callable[[Callable[[_Subject], Iterator[At]]], Rule[_Subject]]:
    """Make a rule of a function; its docstring says what is true when the rule holds.

    Several functions may have one code, and its record has its remedy, source and severity. A rule without a code passes
    on the findings of plain functions.
    """
    return partial(Rule, code)


def broken(rules: Iterable[Rule[_Subject]], subject: _Subject) -> Iterator[tuple[Place, Finding]]:
    """Yield the place and the finding of everything that breaks one of some rules."""
    for each in rules:
        yield from located(each(subject), code=each.code)


def located(found: Iterable[At], *, code: str = "") -> Iterator[tuple[Place, Finding]]:
    """Yield the place and the finding of what a rule found, as far as its subject is known.

    Args:
        found: What the rule found.
        code: Code of the findings that have none of their own. Default: all have one.
    """
    for at in _as_far_as_known(found):
        place = (at.path,) if isinstance(at.path, str) else at.path
        yield place, Finding(at.code or code, at.problem, at.allowed, at.remedy, path=path_text(place))


def _as_far_as_known(found: Iterable[At]) -> Iterator[At]:
    """Yield what a rule finds until it needs an unset field; AttributeError for one that is no field, which is a bug."""
    try:
        yield from found
    except AttributeError as error:
        if not is_unset(error):
            raise


def findings(rules: Iterable[Rule[Any]], subject: Any) -> list[Finding]:
    """Return the findings of everything that breaks one of some rules."""
    return [finding for _, finding in broken(rules, subject)]


def duplicates(names: Iterable[str | None]) -> Iterator[tuple[int, str]]:
    """Yield index and text of each name that occurs before in the list; None is one that could not be read."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield index, name
        elif name is not None:
            seen.add(name)


def path_text(place: Iterable[str | int]) -> str:
    """Return a place as people write it, such as ``associations[0].file_system_path``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place if part != "")[1:]
