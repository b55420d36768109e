"""Proof that what runs is what was bought: instances of the market type capacity-block, in our own reservation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_rules.findings import Finding

__all__ = ["Consumption", "LaunchedInstance", "check_consumption", "read_instances"]

_BLOCK: Final = "capacity-block"
_ALIVE: Final = ("pending", "running")


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchedInstance:
    """One instance, as far as its capacity goes.

    Attributes:
        instance_id: Its id.
        lifecycle: ``capacity-block``, ``spot``, ``scheduled``; empty for on-demand.
        reservation_id: The reservation that it runs in. None outside any.
    """

    instance_id: str
    lifecycle: str
    reservation_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumption:
    """What the proof found.

    Attributes:
        reserved: Instances that the reservations hold.
        inside: Instances that run in them.
        outside: Instances that do not.
        findings: What is wrong; empty when everything runs where it was paid for.
    """

    reserved: int
    inside: int
    outside: int
    findings: tuple[Finding, ...]


def read_instances(client: Any, *, filters: Sequence[Mapping[str, Any]]) -> list[LaunchedInstance]:
    """Read the pending and running instances that match.

    Args:
        client: An EC2 client.
        filters: Filters of DescribeInstances, such as that of a cluster's tag.
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
    """Judge whether instances run in the reservations that were bought for them.

    Args:
        instances: The instances that should.
        reserved: Instances that each of our reservations holds, by its id.
        is_block: Whether the reservations are Capacity Blocks, whose instances have a lifecycle of their own.
            Default: they are.
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
                remedy="It is billed besides what was paid: check the market options of its launch template",
            )
        )
    total = sum(reserved.values())
    if not inside and total:
        findings.append(
            Finding(
                code="UC7046",
                problem=f"no instance runs in {', '.join(sorted(reserved))}, which holds {total}",
                remedy="It is paid and idle: check that the compute environment is enabled and jobs are queued",
            )
        )
    return Consumption(reserved=total, inside=inside, outside=outside, findings=tuple(findings))
