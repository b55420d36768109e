"""When AWS Batch cancels a job that waits at the head of a queue, and why it may not."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_batch as batch

from ultracluster.capacity import Capacity, CapacityBlock, CapacityReservation, ReservationGroup
from ultracluster_catalog.findings import Finding, FindingsError

__all__ = ["WaitLimits"]

# JobStateTimeLimitAction, API Reference of AWS Batch, botocore 1.44.5.
_SECONDS = (600, 86_400)
_REASONS = {
    "insufficient_capacity": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "exceeds_environments": "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    "exceeds_nodes": "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
}


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
        least, most = _SECONDS
        findings = [
            Finding(
                code="UC6306",
                problem=f"got {limit.to_human_string()}",
                allowed="10 minutes to 24 hours",
                path=name,
            )
            for name, limit in self._given()
            if not least <= limit.to_seconds() <= most
        ]
        if findings:
            raise FindingsError(findings)

    def _given(self) -> list[tuple[str, Duration]]:
        return [(name, limit) for name in _REASONS if (limit := getattr(self, name)) is not None]

    def check(self, sources: Sequence[Capacity | None]) -> list[Finding]:
        """Find limits that would cancel jobs which only wait for their capacity to start.

        Args:
            sources: Where the nodes behind the queue come from; None is on-demand.
        """
        block = any(isinstance(source, CapacityBlock) for source in sources)
        reserved = block or any(
            isinstance(source, (CapacityReservation, ReservationGroup)) for source in sources
        )
        refused = {"insufficient_capacity": reserved, "exceeds_environments": block}
        return [
            Finding(
                code="UC6307",
                problem="the queue is in front of "
                + ("a Capacity Block" if block else "reserved capacity")
                + ", and the limit would cancel jobs that wait for it to start",
                remedy="Leave it out; `ultracluster jobs why` says what a job waits for",
                path=name,
            )
            for name, _ in self._given()
            if refused.get(name)
        ]

    @property
    def actions(self) -> list[batch.CfnJobQueue.JobStateTimeLimitActionProperty] | None:
        """The actions as AWS Batch takes them; none without limits."""
        return [
            batch.CfnJobQueue.JobStateTimeLimitActionProperty(
                action="CANCEL", state="RUNNABLE", reason=_REASONS[name], max_time_seconds=limit.to_seconds()
            )
            for name, limit in self._given()
        ] or None
