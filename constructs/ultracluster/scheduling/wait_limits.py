"""Limits after which AWS Batch cancels a job at the head of a queue."""

from collections.abc import Sequence

from aws_cdk import aws_batch as batch

from ultracluster.capacity.sources import has_block
from ultracluster_catalog.limits.queues import WAIT_LIMIT_REASONS
from ultracluster_spec.capacity import Capacity, CapacityReservation, ReservationGroup
from ultracluster_spec.findings import Finding
from ultracluster_spec.queue import WaitLimits, check_wait_limits

_LONGEST_HOURS = 24


def default_limits(sources: Sequence[Capacity | None]) -> WaitLimits:
    """Return the limits of a queue that sets none: 24 hours each, the longest that AWS Batch accepts.

    They cancel jobs that would otherwise block the queue indefinitely (aws/aws-parallelcluster#2098, apache/airflow#38298). There are none
    with a Capacity Block: its environment is disabled until it starts, jobs wait for that, and AWS does not document
    which reason it reports for them. Other reserved capacity has no limit for missing instances.

    Args:
        sources: Capacity sources behind the queue; None is On-Demand.
    """
    if has_block(sources):
        return WaitLimits()
    return WaitLimits(
        insufficient_capacity=None if _is_reserved(sources) else _LONGEST_HOURS,
        exceeds_environments=_LONGEST_HOURS,
        exceeds_nodes=_LONGEST_HOURS,
    )


def check_limits(limits: WaitLimits, sources: Sequence[Capacity | None]) -> list[Finding]:
    """Return limits that would cancel jobs whose capacity has not started (UC6307)."""
    return check_wait_limits(
        _hours(limits), block=has_block(sources), reserved=_is_reserved(sources), path="wait_limits"
    )


def limit_actions(
    limits: WaitLimits,
) -> list[batch.CfnJobQueue.JobStateTimeLimitActionProperty] | None:
    """Return the time limit actions for AWS Batch; None without limits."""
    return [
        batch.CfnJobQueue.JobStateTimeLimitActionProperty(
            action="CANCEL", state="RUNNABLE", reason=WAIT_LIMIT_REASONS[name], max_time_seconds=hours * 3600
        )
        for name, hours in _hours(limits).items()
    ] or None


def _hours(limits: WaitLimits) -> dict[str, int]:
    return {name: hours for name in WAIT_LIMIT_REASONS if (hours := getattr(limits, name)) is not None}


def _is_reserved(sources: Sequence[Capacity | None]) -> bool:
    return any(isinstance(source, (CapacityReservation, ReservationGroup)) for source in sources)
