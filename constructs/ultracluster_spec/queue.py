"""`queue` and `additional_queues` of a cluster: priority, shares and capacity of job queues."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Final

from ultracluster_rules.findings import Finding
from ultracluster_rules.queues import (
    PRIORITY,
    RESERVED_PERCENT,
    SHARE_DECAY_HOURS,
    WAIT_LIMIT_HOURS,
    check_shares,
)
from ultracluster_rules.values import Checked
from ultracluster_spec.names import Name
from ultracluster_spec.values import Value

OWN_CAPACITY: Final = "capacity"
"""Name by which a queue refers to `capacity` of the cluster, which has no name."""

_Hours = Annotated[int, WAIT_LIMIT_HOURS]


def _check_shares(shares: dict[str, int]) -> Iterator[Finding]:
    for finding in check_shares(shares, path="shares"):
        where = finding.path.removeprefix("shares").removeprefix(".")
        yield replace(finding, problem=f"{where}: {finding.problem}") if where else finding


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitLimits(Value):
    """Hours after which a job at the head of a queue is cancelled; reasons that are left out have no limit."""

    insufficient_capacity: _Hours | None = None
    """If EC2 lacks instances in all capacity: 1 to 24 hours. Not with reserved capacity, for which jobs may wait. Default:
    no limit."""

    exceeds_environments: _Hours | None = None
    """If the job needs more nodes than any capacity has: 1 to 24 hours. Not with a Capacity Block. Default: no limit."""

    exceeds_nodes: _Hours | None = None
    """If the container fits on no node: 1 to 24 hours. Default: no limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue(Value):
    """Scheduling of a job queue."""

    priority: Annotated[int, PRIORITY] = 1
    """Priority among queues that share nodes, 0 to 1,000; higher runs first. Default: 1."""

    shares: Annotated[dict[str, int], Checked(_check_shares)] = field(default_factory=dict)
    """Weight of each share identifier, 1 to 1,000: a share with 4 gets four times as many nodes as one with 1. Identifiers
    are letters and digits; a trailing asterisk matches a prefix. Default: weight 1."""

    share_decay_hours: Annotated[int, SHARE_DECAY_HOURS] | None = None
    """Hours of past usage that count toward fair shares, 1 to 168. Setting it gives the queue a fair-share policy. Default:
    24 if shares are set, otherwise jobs run first in, first out."""

    compute_reservation_percent: Annotated[int, RESERVED_PERCENT] = 0
    """Capacity reserved for share identifiers without jobs, in percent, 0 to 99. Default: 0."""

    capacity: tuple[str, ...] = ()
    """Names of up to three capacities to use, in order of preference: those of `additional_capacity`, and `capacity` for the
    first. Default: all."""

    notify_blocked: bool = False
    """Whether to publish AWS Batch's blocked-queue events to the topic `BlockedQueues` of the cluster. Default: no."""

    wait_limits: WaitLimits | None = None
    """When to cancel a job at the head of the queue; `{}` for never. Default: after 24 hours, except jobs that may wait for
    reserved capacity; never with a Capacity Block."""

    @property
    def has_shares(self) -> bool:
        """Whether the queue divides its nodes among share identifiers."""
        return bool(self.shares or self.compute_reservation_percent or self.share_decay_hours is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class AdditionalQueue(Queue):
    """An additional job queue for the nodes of a cluster."""

    name: Name
    """Name of the queue, unique in the cluster, for `ultracluster jobs submit --queue NAME`."""
