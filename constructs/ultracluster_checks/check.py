"""Run the rules on templates and drop suppressed findings."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ultracluster_checks.model.template import Property, Resource, Source, Templates
from ultracluster_checks.problem import Problem, finding_of, refuse_skip
from ultracluster_checks.table import CHECKS, RECORDS
from ultracluster_spec.findings import Finding, quote, reject
from ultracluster_spec.record import is_error

_INDEX: Final = re.compile(r"\d+")
METADATA_KEY = "ultracluster"
"""Under ``Metadata`` of a resource, ``skip`` in this mapping says which codes are left out there, and why."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A suppressed finding."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings of a set of templates, in their order: problems with the resource of each, and what is left out."""

    problems: tuple[Problem, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings."""
        return tuple(finding_of(problem) for problem in self.problems)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings of severity error."""
        return tuple(finding for finding in self.findings if is_error(finding, RECORDS))


def check_templates(sources: Sequence[Source], *, skip: Mapping[str, str] | None = None) -> CheckReport:
    """Check templates against all rules.

    What one template exports is known where another of them imports it. What only a deployment knows (a parameter without
    a default, a condition) is never a finding; a parameter with a default is judged by it.

    Raises:
        FindingsError: If something shall be left out that is no rule for templates, may not be left out, or has no
            reason (UC9509).
    """
    skip = dict(skip or {})
    reject(finding for code, reason in skip.items() for finding in _refusals(code, reason))
    templates = Templates(sources)
    problems: list[Problem] = list(_wrong_metadata(templates))
    left_out: list[LeftOut] = []
    found = _each_once(problem for check in CHECKS for problem in check(templates))
    places = {each: place for place, each in enumerate(templates.resources)}
    for problem in sorted(found, key=lambda each: (places[each.place.resource], each.finding.code)):
        code, skips = problem.finding.code, _skips(problem.place.resource).value
        reason = (skips.get(code) if isinstance(skips, dict) else None) or skip.get(code)
        if isinstance(reason, str) and reason.strip() and not RECORDS[code].never_left_out:
            left_out.append(LeftOut(finding_of(problem), reason))
        else:
            problems.append(problem)
    return CheckReport(tuple(problems), tuple(left_out))


def _each_once(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Return each problem once; the first of those that items of one list share counts the others."""
    found: dict[tuple[Resource, str, str, str], dict[str, Problem]] = {}
    for problem in problems:
        path, text = (_INDEX.sub("#", each) for each in (str(problem.place), problem.finding.problem))
        alike = found.setdefault((problem.place.resource, path, problem.finding.code, text), {})
        alike.setdefault(f"{problem.place} {problem.finding.problem}", problem)
    for alike in found.values():
        first, *others = alike.values()
        more = f"{first.finding.problem} (and {len(others)} more like it)"
        yield Problem(first.place, replace(first.finding, problem=more)) if others else first


def _skips(resource: Resource) -> Property:
    return resource.attribute("Metadata")[METADATA_KEY]["skip"]


def _wrong_metadata(templates: Templates) -> Iterator[Problem]:
    """Find suppressions in metadata that are malformed or name a code that cannot be suppressed."""
    for resource in templates.resources:
        skips = _skips(resource)
        if not skips.missing and not isinstance(skips.value, dict):
            finding = refuse_skip(f"got {quote(skips.value)}", "a mapping of codes to reasons")
            yield Problem(skips, finding)
        for member in skips.members:
            for finding in _refusals(str(member.path[-1]), member.value):
                yield Problem(member, finding)


def _refusals(code: str, reason: object) -> list[Finding]:
    record = RECORDS.get(code)
    if record is None or not record.in_templates:
        problem, allowed = f"{quote(code)} is no rule for templates", "a code that the check reports"
    elif record.never_left_out:
        problem, allowed = f"{code} may not be left out", "a template that keeps the rule"
    elif not isinstance(reason, str) or not reason.strip():
        problem, allowed = f"{code} is left out without a reason", "a sentence that says why"
    else:
        return []
    return [refuse_skip(problem, allowed, path=code)]
