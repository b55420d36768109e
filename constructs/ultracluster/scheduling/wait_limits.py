"""When AWS Batch cancels a job that waits at the head of a queue, and why it may not."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_batch as batch

from ultracluster.capacity.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster_catalog.limits.queues import WAIT_LIMIT_REASONS
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_rules.queues import check_wait_limit, check_wait_limits

__all__ = ["WaitLimits"]


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitLimits:
    """How long a job may hold up a queue at its head before AWS Batch cancels it, each 10 minutes to 24 hours.

    Attributes:
        insufficient_capacity: EC2 has no instances for any compute environment. Refused in front of reserved
            capacity: it would cancel jobs that wait for a reservation to start. Default: for ever.
        exceeds_environments: The job needs more vCPUs than any compute environment may have. Refused in front of a
            Capacity Block, whose environment is closed until it starts: whether AWS Batch counts a closed one is not
            documented. Default: for ever.
        exceeds_nodes: The container of the job fits no node. Default: for ever.
    """

    insufficient_capacity: Duration | None = None
    exceeds_environments: Duration | None = None
    exceeds_nodes: Duration | None = None

    def __post_init__(self) -> None:
        findings = [
            finding
            for name, limit in self._given()
            for finding in check_wait_limit(limit.to_seconds(), shown=limit.to_human_string(), path=name)
        ]
        if findings:
            raise FindingsError(findings)

    def _given(self) -> list[tuple[str, Duration]]:
        return [(name, limit) for name in WAIT_LIMIT_REASONS if (limit := getattr(self, name)) is not None]

    def check(self, sources: Sequence[Capacity | None]) -> list[Finding]:
        """Find limits that would cancel jobs which only wait for their capacity to start.

        Args:
            sources: Where the nodes behind the queue come from; None is on-demand.
        """
        return check_wait_limits(
            [name for name, _ in self._given()],
            block=any(isinstance(each, CapacityBlock) for each in sources),
            reserved=any(isinstance(each, (CapacityReservation, ReservationGroup)) for each in sources),
            path="wait_limits",
        )

    @property
    def actions(self) -> list[batch.CfnJobQueue.JobStateTimeLimitActionProperty] | None:
        """The actions as AWS Batch takes them; none without limits."""
        return [
            batch.CfnJobQueue.JobStateTimeLimitActionProperty(
                action="CANCEL",
                state="RUNNABLE",
                reason=WAIT_LIMIT_REASONS[name],
                max_time_seconds=limit.to_seconds(),
            )
            for name, limit in self._given()
        ] or None
