"""How close stacks are to the template limits of CloudFormation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ultracluster_catalog.limits.service_limits import (
    TEMPLATE_OUTPUTS,
    TEMPLATE_RESOURCES,
    TEMPLATE_SIZE_BYTES,
)
from ultracluster_spec.findings import Finding, Severity
from ultracluster_spec.record import RuleRecord
from ultracluster_stacks.plan.templates import StackTemplate

_NEAR: Final = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Headroom:
    """The stack closest to a limit of ``resources``, ``outputs`` or ``bytes``."""

    what: str
    stack: str
    count: int
    most: int

    def __str__(self) -> str:
        return f"{self.count:,} of {self.most:,} {self.what} in {self.stack}"


def headroom(stacks: Sequence[StackTemplate]) -> tuple[Headroom, ...]:
    """Return the stack closest to each limit: of resources, outputs and bytes. Empty without stacks."""
    if not stacks:
        return ()
    return tuple(
        max(counts, key=lambda headroom: headroom.count) for counts in zip(*map(_counts, stacks), strict=True)
    )


def check_headroom(stacks: Sequence[StackTemplate]) -> list[Finding]:
    """Return UC9650 for each stack above a limit of CloudFormation, and UC9651 from 80 % of it."""
    return [
        Finding(
            code="UC9650" if usage.count > usage.most else "UC9651",
            problem=f"got {usage}",
            allowed=f"up to {usage.most:,}",
            remedy="Split the cluster into several with fewer jobs, queues or sources of capacity",
        )
        for stack in stacks
        for usage in _counts(stack)
        if usage.count >= _NEAR * usage.most
    ]


def _counts(stack: StackTemplate) -> tuple[Headroom, ...]:
    return tuple(
        Headroom(what=what, stack=stack.name, count=count, most=most)
        for what, count, most in (
            ("resources", len(stack.resources), TEMPLATE_RESOURCES),
            ("outputs", len(stack.template.get("Outputs") or {}), TEMPLATE_OUTPUTS),
            ("bytes", stack.size_bytes, TEMPLATE_SIZE_BYTES),
        )
    )


RECORDS: Final = (
    RuleRecord(
        "UC9650",
        "A stack stays within CloudFormation's limits on resources, outputs and bytes.",
        remedy="Split the cluster: use fewer jobs, queues or sources of capacity in one.",
        source="AWS CloudFormation quotas: 500 resources, 200 outputs, 1 MB for a template.",
    ),
    RuleRecord(
        "UC9651",
        "A stack has room for more resources, outputs and bytes.",
        severity=Severity.WARNING,
        remedy="Split the cluster before it grows further.",
        source="Our decision: four fifths of the limits of CloudFormation leave time to act.",
    ),
)
