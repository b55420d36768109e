"""Findings at properties of templates, and the registration of the rules that make them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any, Final, TypeVar, overload

from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_spec.credentials import hide_credentials
from ultracluster_spec.findings import Finding, Located
from ultracluster_spec.record import RuleRecord

Problem = Located[Property]
"""A finding at a property of a template, present or missing."""

Find = Callable[[Templates], Iterator[Problem]]
"""A check: yields what is certainly wrong in templates. What only a deployment knows is not wrong."""

Wrong = Problem | tuple[Property, str, str] | tuple[Property, str, str, str]
"""A problem, or its place, description, allowed values and remedy, to which the rule adds its code."""

Subject = TypeVar("Subject")
Rule = Callable[[Subject], Iterator[Wrong]]

REGISTERED: Final[list[Find]] = []
"""The checks of the modules that are imported; `ultracluster_checks.table` imports them all."""


@overload
def rule(code: str = "") -> Callable[[Rule[Templates]], Find]: ...
@overload
def rule(code: str, each: str, *types: str) -> Callable[[Rule[Resource]], Find]: ...
@overload
def rule(code: str, each: Callable[[Templates], Iterable[Subject]]) -> Callable[[Rule[Subject]], Find]: ...
def rule(code: str = "", each: Any = None, *types: str) -> Any:
    """Register a generator of problems as a check of templates.

    Args:
        code: Code of the problems that are yielded without one.
        each: What the generator is called with: each item that a function returns for the templates, or each resource
            of a type. Default: all templates at once.
        types: Further types of resources.
    """

    def register(find: Rule[Any]) -> Find:
        @wraps(find)
        def check(templates: Templates) -> Iterator[Problem]:
            if each is None:
                subjects: Iterable[Any] = (templates,)
            else:
                subjects = templates.of_type(each, *types) if isinstance(each, str) else each(templates)
            for subject in subjects:
                for wrong in find(subject):
                    yield Problem.of(wrong[0], code, *wrong[1:]) if isinstance(wrong, tuple) else wrong

        REGISTERED.append(check)
        return check

    return register


def placed(place: Property, findings: Iterable[Finding]) -> Iterator[Problem]:
    """Return findings of shared rules as problems at a property."""
    return (Problem(place, finding) for finding in findings)


def finding_of(problem: Problem) -> Finding:
    """Return the finding of a problem with logical ID, property path, file and line."""
    resource, path = problem.place.resource, problem.place.path
    return replace(
        problem.finding,
        problem=_visible(problem.finding.problem),
        allowed=_visible(problem.finding.allowed),
        path=_visible(str(problem.place)),
        location=resource.template.source.location(("Resources", resource.logical_id, *path)),
    )


def refuse_skip(problem: str, allowed: str, *, path: str = "") -> Finding:
    """Return the finding (UC9509) for a code that cannot be suppressed."""
    return Finding("UC9509", problem, allowed=allowed, path=path)


def _visible(text: str) -> str:
    """Escape characters that hide text or move the cursor, and hide credentials."""
    return hide_credentials("".join(c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in text))


RECORDS: Final = (
    RuleRecord(
        "UC9509",
        "A skipped rule can be skipped, and a reason is given.",
        remedy="Skip only rules that can be skipped, and give a reason; `ultracluster docs check` names those that cannot.",
        source="Our decision: purchases, credentials and open doors have no good reason.",
    ),
)
