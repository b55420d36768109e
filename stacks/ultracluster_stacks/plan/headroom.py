"""How near stacks are to what CloudFormation takes of one template."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ultracluster_catalog.limits.service_limits import (
    TEMPLATE_OUTPUTS,
    TEMPLATE_RESOURCES,
    TEMPLATE_SIZE_BYTES,
)
from ultracluster_rules.findings import Finding
from ultracluster_stacks.plan.templates import StackTemplate

__all__ = ["Headroom", "check_headroom", "headroom"]

_NEAR: Final = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Headroom:
    """The fullest stack by one limit.

    Attributes:
        what: What is counted: ``resources``, ``outputs`` or ``bytes``.
        stack: Name of the stack.
        count: How many it has.
        most: How many CloudFormation takes.
    """

    what: str
    stack: str
    count: int
    most: int

    def __str__(self) -> str:
        return f"{self.count:,} of {self.most:,} {self.what} in {self.stack}"


def headroom(stacks: Sequence[StackTemplate]) -> tuple[Headroom, ...]:
    """Find the fullest stack by each limit; the first one of equal ones.

    Args:
        stacks: Stacks to be deployed.

    Returns:
        One for resources, outputs and bytes; empty without stacks.
    """
    if not stacks:
        return ()
    return tuple(
        max(counts, key=lambda each: each.count) for counts in zip(*map(_counts, stacks), strict=True)
    )


def check_headroom(stacks: Sequence[StackTemplate]) -> list[Finding]:
    """Find stacks that CloudFormation refuses, and those that soon are.

    Args:
        stacks: Stacks to be deployed.

    Returns:
        UC9650 above a limit, UC9651 from four fifths of it.
    """
    return [
        Finding(
            code="UC9650" if each.count > each.most else "UC9651",
            problem=f"got {each}",
            allowed=f"up to {each.most:,}",
            remedy="Divide the cluster: fewer jobs, queues or sources of capacity in one",
        )
        for stack in stacks
        for each in _counts(stack)
        if each.count >= _NEAR * each.most
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
