"""Verify that instances consume the capacity that was bought: market type capacity-block, in our own reservation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_spec.findings import Finding
from ultracluster_spec.record import RuleRecord

_BLOCK: Final = "capacity-block"
_ALIVE: Final = ("pending", "running")


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchedInstance:
    """Launched instance with its capacity."""

    instance_id: str
    lifecycle: str  # capacity-block, spot, scheduled; empty for On-Demand
    reservation_id: str | None  # reservation that it runs in


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumption:
    """Result of the verification."""

    reserved: int
    inside: int
    outside: int
    findings: tuple[Finding, ...]  # problems; empty if all instances use the reservations


def read_instances(client: Any, *, filters: Sequence[Mapping[str, Any]]) -> list[LaunchedInstance]:
    """Return the pending and running instances that match."""
    alive = {"Name": "instance-state-name", "Values": list(_ALIVE)}
    pages = client.get_paginator("describe_instances").paginate(Filters=[*filters, alive])
    return [
        LaunchedInstance(
            instance_id=instance["InstanceId"],
            lifecycle=instance.get("InstanceLifecycle", ""),
            reservation_id=instance.get("CapacityReservationId"),
        )
        for page in pages
        for group in page["Reservations"]
        for instance in group["Instances"]
    ]


def check_consumption(
    instances: Iterable[LaunchedInstance], *, reserved: Mapping[str, int], is_block: bool = True
) -> Consumption:
    """Check whether instances run in the reservations that were bought for them, which hold `reserved` instances by ID.

    Instances in Capacity Blocks (`is_block`) have their own lifecycle value.
    """
    findings = []
    inside = outside = 0
    for instance in instances:
        problems = []
        if instance.reservation_id not in reserved:
            where = f"in {instance.reservation_id}" if instance.reservation_id else "in no reservation"
            problems.append(f"runs {where}")
        if is_block and instance.lifecycle != _BLOCK:
            problems.append(f"has the lifecycle {instance.lifecycle or 'on-demand'}")
        if not problems:
            inside += 1
            continue
        outside += 1
        findings.append(
            Finding(
                code="UC7045",
                path=instance.instance_id,
                problem=" and ".join(problems),
                allowed=f"{f'lifecycle {_BLOCK}, ' if is_block else ''}reservation {', '.join(sorted(reserved))}",
                remedy="It is billed in addition to the reservation: check the market options of its launch template",
            )
        )
    total = sum(reserved.values())
    if not inside and total:
        findings.append(
            Finding(
                code="UC7046",
                problem=f"no instance runs in {', '.join(sorted(reserved))}, which holds {total} instances",
                remedy="It is paid for and idle: check that the compute environment is enabled and jobs are queued",
            )
        )
    return Consumption(reserved=total, inside=inside, outside=outside, findings=tuple(findings))


RECORDS: Final = (
    RuleRecord(
        "UC7045",
        "Every instance runs in a reservation bought for it.",
        remedy="It is billed in addition to the reservation: check market type and reservation in its launch template, and terminate it.",
        source="EC2 user guide, launch into Capacity Blocks, 2026-10: a launch that does not target the block does not use it.",
    ),
    RuleRecord(
        "UC7046",
        "A paid reservation is in use.",
        remedy="It is paid for and idle: check that the compute environment is enabled and jobs are queued; `ultracluster jobs why` explains why a job is waiting.",
        source="Our decision: a block is paid in full from its start.",
    ),
)
