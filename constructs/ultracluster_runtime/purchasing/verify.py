"""Verify that instances consume the capacity that was bought: market type capacity-block, in our own reservation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_rules.findings import Finding

_BLOCK: Final = "capacity-block"
_ALIVE: Final = ("pending", "running")


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchedInstance:
    """Launched instance with its capacity.

    Attributes:
        instance_id: ID of the instance.
        lifecycle: ``capacity-block``, ``spot``, ``scheduled``; empty for On-Demand.
        reservation_id: Reservation that it runs in. None without one.
    """

    instance_id: str
    lifecycle: str
    reservation_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumption:
    """Result of the verification.

    Attributes:
        reserved: Number of reserved instances.
        inside: Number of instances in the reservations.
        outside: Number of instances outside of them.
        findings: Problems; empty if all instances use the reservations.
    """

    reserved: int
    inside: int
    outside: int
    findings: tuple[Finding, ...]


def read_instances(client: Any, *, filters: Sequence[Mapping[str, Any]]) -> list[LaunchedInstance]:
    """Return the pending and running instances that match.

    Args:
        client: EC2 client.
        filters: Filters of DescribeInstances, such as for the tag of a cluster.
    """
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
    """Check whether instances run in the reservations that were bought for them.

    Args:
        instances: Instances to check.
        reserved: Number of instances of each reservation, by ID.
        is_block: Whether the reservations are Capacity Blocks, whose instances have their own lifecycle value.
            Default: True.
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
