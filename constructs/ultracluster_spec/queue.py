"""`queue` and `additional_queues` of a cluster: priority, shares and capacity of job queues."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import Annotated, Final

from ultracluster_catalog.limits.queues import (
    MOST_ENVIRONMENTS,
    MOST_PARTS,
    MOST_PRIORITY,
    MOST_RESERVED_PERCENT,
    MOST_SHARES,
    SHARE_DECAY_SECONDS,
    WAIT_LIMIT_SECONDS,
)
from ultracluster_spec.bounds import Between, Checked
from ultracluster_spec.findings import Finding, quote, require
from ultracluster_spec.names import Name
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.values import Value

PRIORITY: Final = Between(code="UC6305", least=0, most=MOST_PRIORITY)
"""Priority of a queue."""

RESERVED_PERCENT: Final = Between(code="UC6304", least=0, most=MOST_RESERVED_PERCENT)
"""Percentage of compute that is reserved for share identifiers without jobs."""

SHARE_DECAY_HOURS: Final = Between(code="UC6313", least=1, most=SHARE_DECAY_SECONDS[1] // 3600)
"""Whole hours for which past usage of a share counts."""

WAIT_LIMIT_HOURS: Final = Between(code="UC6306", least=1, most=WAIT_LIMIT_SECONDS[1] // 3600)
"""Whole hours after which a waiting job is cancelled."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9]{1,255}\*?")


def check_shares(parts: Mapping[str, int], *, path: str) -> list[Finding]:
    """Check identifiers (UC6301) and parts (UC6302) of fair shares, and for overlaps or too many (UC6303)."""
    findings = [
        Finding(
            "UC6301",
            f"got {quote(identifier)}",
            allowed="1 to 255 letters and digits, optionally with an asterisk at the end as a wildcard",
            path=path,
        )
        for identifier in parts
        if not _IDENTIFIER.fullmatch(identifier)
    ]
    findings += [
        Finding("UC6302", f"got {quote(count)}", allowed=f"1 to {MOST_PARTS:,}", path=f"{path}.{name}")
        for name, count in parts.items()
        if not 1 <= count <= MOST_PARTS
    ]
    findings += [
        Finding(
            "UC6303",
            f"{quote(prefix)} also matches {quote(other)}",
            remedy="Leave one of them out",
            path=path,
        )
        for pair in combinations(sorted(parts), 2)
        for prefix, other in permutations(pair)
        if prefix.endswith("*") and other.startswith(prefix[:-1])
    ]
    findings += require(
        len(parts) <= MOST_SHARES,
        "UC6303",
        f"got {len(parts)} share identifiers",
        allowed=f"up to {MOST_SHARES}",
        path=path,
    )
    return findings


def check_environment_count(count: int, *, path: str = "") -> list[Finding]:
    """Check the number of sources of capacity, and so of compute environments, of a queue (UC4120)."""
    return require(
        1 <= count <= MOST_ENVIRONMENTS,
        "UC4120",
        f"got {count} sources of capacity for one queue",
        allowed=f"1 to {MOST_ENVIRONMENTS}",
        remedy="Name those that this queue uses, and use another queue for the others",
        path=path,
    )


def check_source_exists(name: str, known: Collection[str], *, path: str = "") -> list[Finding]:
    """Check whether a queue names capacity of its cluster (UC6312)."""
    return require(
        name in known,
        "UC6312",
        f"got {quote(name)}",
        allowed=", ".join(known),
        path=path,
    )


def check_blocks_used(blocks: Iterable[str], used: Collection[str]) -> list[Finding]:
    """Check that the main queue of a cluster, which its Capacity Blocks open and close, uses them all (UC6314)."""
    return [
        Finding(
            "UC6314",
            f"the main queue of the cluster leaves out the Capacity Block {quote(block)}",
            remedy="Add it to this queue, which is enabled and disabled with the block",
        )
        for block in blocks
        if block not in used
    ]


def check_wait_limits(limits: Collection[str], *, block: bool, reserved: bool, path: str) -> list[Finding]:
    """Check for limits that would cancel jobs which wait for their capacity to start (UC6307).

    The environment of a Capacity Block is disabled until the block starts, and whether AWS Batch counts a disabled
    environment as large enough is not documented. Other reserved capacity may also start later.
    """
    harmful = {"insufficient_capacity": block or reserved, "exceeds_environments": block}
    return [
        Finding(
            "UC6307",
            "the queue uses "
            + ("a Capacity Block" if block else "reserved capacity")
            + ", and the limit would cancel jobs that wait for it to start",
            remedy="Leave it out; `ultracluster jobs why` shows what a job waits for",
            path=f"{path}.{name}".lstrip("."),
        )
        for name in limits
        if harmful.get(name)
    ]


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


RECORDS: Final = (
    RuleRecord(
        "UC4120",
        "A queue has one to three compute environments.",
        remedy="List at most three sources under `queue.capacity`, and use other queues for the others.",
        source="AWS Batch quotas, 2026-10: a job queue has up to 3 compute environments.",
    ),
    RuleRecord(
        "UC6301",
        "A share identifier is letters and digits, at most with an asterisk at the end.",
        remedy="Use letters and digits; an asterisk at the end stands for all that begin so.",
        source="botocore 1.44.5, Batch ShareAttributes, 2026.",
        example="queue: {shares: {teamA: 1}}",
    ),
    RuleRecord(
        "UC6302",
        "The parts of a share are 1 to 1,000.",
        remedy="Specify a weight of 1 to 1,000: a share of weight 4 gets four times as much as one of weight 1.",
        source="botocore 1.44.5, Batch ShareAttributes weightFactor, 2026: 0.0001 to 999.9999, the inverse of our parts.",
        example="queue: {shares: {research: 4}}",
    ),
    RuleRecord(
        "UC6303",
        "Share identifiers of a queue do not overlap, and there are at most 500.",
        remedy="Omit the identifier that another one already matches, and use at most 500.",
        source="AWS Batch user guide, fair-share scheduling, 2026-10: no overlap, up to 500 share identifiers.",
        example='queue: {shares: {"team*": 1, others: 1}}',
    ),
    RuleRecord(
        "UC6304",
        "The percentage of a queue that is reserved for inactive shares is 0 to 99.",
        remedy="Specify 0 to 99 percent; capacity reserved for shares without jobs stays idle.",
        source="botocore 1.44.5, Batch FairsharePolicy computeReservation, 2026: 0 to 99.",
        example="queue: {compute_reservation_percent: 20}",
    ),
    RuleRecord(
        "UC6305",
        "The priority of a queue is 0 to 1,000.",
        remedy="Specify 0 to 1,000; among queues with nodes in common, the higher number has priority.",
        source="AWS Batch user guide, job queue parameters, 2026-10.",
        example="queue: {priority: 1000}",
    ),
    RuleRecord(
        "UC6306",
        "A limit on the wait of a job is 10 minutes to 24 hours.",
        remedy="Specify 10 minutes to 24 hours, in the file whole hours; omit the limit to let jobs wait indefinitely.",
        source="botocore 1.44.5, Batch JobStateTimeLimitAction maxTimeSeconds, 2026: 600 to 86,400.",
        example="queue: {wait_limits: {exceeds_nodes: 24}}",
    ),
    RuleRecord(
        "UC6307",
        "No limit cancels jobs that wait for reserved capacity to start.",
        remedy="Omit the limit in front of reserved capacity; `ultracluster jobs why` explains why a job is waiting.",
        source="Our decision: jobs are queued days before a block starts, and the limit would cancel them all. botocore 1.44.5, Batch, 2026, knows no longer one than a day.",
        in_templates=True,
    ),
    RuleRecord(
        "UC6312",
        "The sources of a queue are sources of its cluster.",
        remedy="Name sources of this cluster: capacity for the first one, and the names under `additional_capacity`.",
        source="Our decision: queues share the nodes of their cluster only.",
    ),
    RuleRecord(
        "UC6313",
        "Use of a share is remembered for 10 minutes to a week.",
        remedy="Specify 1 to 168 hours in the file, or 10 minutes to a week in Python.",
        source="botocore 1.44.5, Batch FairsharePolicy shareDecaySeconds, 2026: up to 604,800.",
        example="queue: {share_decay_hours: 168}",
    ),
    RuleRecord(
        "UC6314",
        "The main queue of a cluster uses every Capacity Block of the cluster.",
        remedy="Name every Capacity Block under `queue.capacity` too: it is opened at its start and drained before its end together with this queue.",
        source="Our decision: a paid block without a queue would stand idle.",
    ),
)
