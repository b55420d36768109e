"""The three stacks of the quick start with edits, checked together."""

import functools
from typing import Any

from tests.golden.synthesis import stacks_of
from tests.unit.checks.edits import edited

from ultracluster_checks import Source, check_templates

__all__ = ["codes_after", "findings_after"]


@functools.cache
def _sources() -> tuple[Source, ...]:
    return tuple(
        Source(name=each.name, body=each.template, region=each.region)
        for each in stacks_of("quickstart.yaml")
    )


def findings_after(stack: str, edits: dict[str, Any]) -> list[str]:
    """Return the findings of the quick start after edits of one of its stacks."""
    sources = list(_sources())
    number = next(place for place, each in enumerate(sources) if each.name.endswith(stack))
    sources[number] = Source(name=stack, body=edited(sources[number].body, edits), region="us-east-2")
    return [str(finding) for finding in check_templates(sources).findings]


def codes_after(stack: str, edits: dict[str, Any]) -> list[str]:
    """Return the codes that the quick start breaks after edits of one of its stacks."""
    return sorted({finding.partition(":")[0] for finding in findings_after(stack, edits)})
