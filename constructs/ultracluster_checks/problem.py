"""Findings at properties of templates."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ultracluster_checks.template import Property, Templates
from ultracluster_rules.credentials import hide_credentials
from ultracluster_rules.findings import Finding, Located

Problem = Located[Property]
"""A finding at a property of a template, present or missing."""

Find = Callable[[Templates], Iterator[Problem]]
"""A check: yields what is certainly wrong in templates. What only a deployment knows is not wrong."""


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


def _visible(text: str) -> str:
    """Escape characters that hide text or move the cursor, and hide credentials."""
    return hide_credentials("".join(c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in text))
