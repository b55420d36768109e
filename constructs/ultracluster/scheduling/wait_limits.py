"""Limits after which AWS Batch cancels a job at the head of a queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from aws_cdk import Duration
from aws_cdk import aws_batch as batch

from ultracluster_catalog.limits.queues import WAIT_LIMIT_REASONS
from ultracluster_rules.findings import Finding, reject
from ultracluster_rules.queues import check_wait_limit, check_wait_limits
from ultracluster_spec.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitLimits:
    """How long a job may block a queue before AWS Batch cancels it; each limit is 10 minutes to 24 hours.

    ``WaitLimits()`` has no limit. For the limits of a queue that sets none, see `for_sources`.

    Attributes:
        insufficient_capacity: EC2 has no instances for any compute environment. Rejected for reserved capacity, because it
            would cancel jobs that wait for a reservation to start. Default: no limit.
        exceeds_environments: The job needs more vCPUs than the maximum of every compute environment. Rejected for a
            Capacity Block, whose environment is disabled until it starts: AWS does not document whether a disabled
            environment counts. Default: no limit.
        exceeds_nodes: The container of the job fits on no node. Default: no limit.
    """

    insufficient_capacity: Duration | None = None
    exceeds_environments: Duration | None = None
    exceeds_nodes: Duration | None = None

    def __post_init__(self) -> None:
        reject(
            finding
            for name, limit in self._limits()
            for finding in check_wait_limit(limit.to_seconds(), shown=limit.to_human_string(), path=name)
        )

    def _limits(self) -> list[tuple[str, Duration]]:
        return [(name, limit) for name in WAIT_LIMIT_REASONS if (limit := getattr(self, name)) is not None]

    @classmethod
    def for_sources(cls, sources: Sequence[Capacity | None]) -> Self:
        """Return the default limits of a queue: 24 hours each, the longest that AWS Batch accepts.

        They cancel jobs that would otherwise block the queue indefinitely (aws/aws-parallelcluster#2098, apache/airflow#38298). There are none
        with a Capacity Block: its environment is disabled until it starts, jobs wait for that, and AWS does not document
        which reason it reports for them. Other reserved capacity has no limit for missing instances.

        Args:
            sources: Capacity sources behind the queue; None is On-Demand.
        """
        if any(isinstance(source, CapacityBlock) for source in sources):
            return cls()
        longest = Duration.hours(24)
        reserved = any(isinstance(source, (CapacityReservation, ReservationGroup)) for source in sources)
        return cls(
            insufficient_capacity=None if reserved else longest,
            exceeds_environments=longest,
            exceeds_nodes=longest,
        )

    def check(self, sources: Sequence[Capacity | None]) -> list[Finding]:
        """Check for limits that would cancel jobs whose capacity has not started.

        Args:
            sources: Capacity sources behind the queue; None is On-Demand.
        """
        return check_wait_limits(
            [name for name, _ in self._limits()],
            block=any(isinstance(source, CapacityBlock) for source in sources),
            reserved=any(isinstance(source, (CapacityReservation, ReservationGroup)) for source in sources),
            path="wait_limits",
        )

    @property
    def actions(self) -> list[batch.CfnJobQueue.JobStateTimeLimitActionProperty] | None:
        """Time limit actions for AWS Batch; None without limits."""
        return [
            batch.CfnJobQueue.JobStateTimeLimitActionProperty(
                action="CANCEL",
                state="RUNNABLE",
                reason=WAIT_LIMIT_REASONS[name],
                max_time_seconds=limit.to_seconds(),
            )
            for name, limit in self._limits()
        ] or None
