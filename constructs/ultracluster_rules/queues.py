"""Rules for AWS Batch job queues: fair shares and limits on waiting jobs."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations, permutations
from typing import Final

from ultracluster_catalog.limits.queues import (
    MOST_ENVIRONMENTS,
    MOST_PARTS,
    MOST_PRIORITY,
    MOST_RESERVED_PERCENT,
    MOST_SHARES,
    SHARE_DECAY_SECONDS,
    WAIT_LIMIT_SECONDS,
)
from ultracluster_rules.findings import Finding, quote
from ultracluster_rules.values import Between

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
    """Check fair shares for what AWS Batch would reject.

    Returns:
        UC6301 for identifiers, UC6302 for parts, UC6303 for identifiers that overlap or are too many.
    """
    findings = [
        Finding(
            code="UC6301",
            problem=f"got {quote(identifier)}",
            allowed="1 to 255 letters and digits, optionally with an asterisk at the end as a wildcard",
            path=path,
        )
        for identifier in parts
        if not _IDENTIFIER.fullmatch(identifier)
    ]
    findings += [
        Finding(
            code="UC6302",
            problem=f"got {quote(count)}",
            allowed=f"1 to {MOST_PARTS:,}",
            path=f"{path}.{name}",
        )
        for name, count in parts.items()
        if not 1 <= count <= MOST_PARTS
    ]
    findings += [
        Finding(
            code="UC6303",
            problem=f"{quote(prefix)} also matches {quote(other)}",
            remedy="Leave one of them out",
            path=path,
        )
        for pair in combinations(sorted(parts), 2)
        for prefix, other in permutations(pair)
        if prefix.endswith("*") and other.startswith(prefix[:-1])
    ]
    if len(parts) > MOST_SHARES:
        findings.append(
            Finding(
                code="UC6303",
                problem=f"got {len(parts)} share identifiers",
                allowed=f"up to {MOST_SHARES}",
                path=path,
            )
        )
    return findings


def check_share_decay(seconds: float, *, shown: str, path: str) -> list[Finding]:
    """Check the time over which past usage of a share counts.

    Args:
        seconds: The time in seconds.
        shown: The time in words.
        path: Path in the input.

    Returns:
        UC6313 if AWS Batch would reject it.
    """
    least, most = SHARE_DECAY_SECONDS
    if least <= seconds <= most:
        return []
    allowed = "10 minutes to 7 days"
    return [Finding(code=SHARE_DECAY_HOURS.code, problem=f"got {shown}", allowed=allowed, path=path)]


def check_wait_limit(seconds: float, *, shown: str, path: str) -> list[Finding]:
    """Check the time after which a waiting job is cancelled.

    Args:
        seconds: The time in seconds.
        shown: The time in words.
        path: Path in the input.

    Returns:
        UC6306 if AWS Batch would reject it.
    """
    least, most = WAIT_LIMIT_SECONDS
    if least <= seconds <= most:
        return []
    allowed = "10 minutes to 24 hours"
    return [Finding(code=WAIT_LIMIT_HOURS.code, problem=f"got {shown}", allowed=allowed, path=path)]


def check_environment_count(count: int, *, path: str = "") -> list[Finding]:
    """Check the number of sources of capacity, and so of compute environments, of a queue.

    Returns:
        UC4120 if there are none or too many.
    """
    if 1 <= count <= MOST_ENVIRONMENTS:
        return []
    return [
        Finding(
            code="UC4120",
            problem=f"got {count} sources of capacity for one queue",
            allowed=f"1 to {MOST_ENVIRONMENTS}",
            remedy="Name those that this queue uses, and use another queue for the others",
            path=path,
        )
    ]


def check_source_exists(name: str | None, known: Collection[str | None], *, path: str = "") -> list[Finding]:
    """Check whether a queue names capacity of its cluster.

    Args:
        name: Name of the source; None for the one without a name.
        known: Names of the sources of the cluster.
        path: Path in the input.

    Returns:
        UC6312 if it does not.
    """
    if name in known:
        return []
    allowed = ", ".join(each or "None, the source without a name" for each in known)
    return [Finding(code="UC6312", problem=f"got {quote(name)}", allowed=allowed, path=path)]


def check_blocks_used(blocks: Iterable[str], used: Collection[str]) -> list[Finding]:
    """Check whether the main queue of a cluster, which its Capacity Blocks open and close, uses all of them.

    Returns:
        UC6314 for each block that it leaves out.
    """
    return [
        Finding(
            code="UC6314",
            problem=f"the main queue of the cluster leaves out the Capacity Block {quote(block)}",
            remedy="Add it to this queue, which is opened and closed with the block",
        )
        for block in blocks
        if block not in used
    ]


def check_wait_limits(limits: Collection[str], *, block: bool, reserved: bool, path: str) -> list[Finding]:
    """Check for limits that would cancel jobs which wait for their capacity to start.

    Args:
        limits: Names of the limits that are set, of `WAIT_LIMIT_REASONS`.
        block: Whether the queue uses a Capacity Block. Its environment is disabled until the block starts, and
            whether AWS Batch counts a disabled environment as large enough is not documented.
        reserved: Whether the queue uses other reserved capacity, which may also start later.
        path: Path of the limits in the input; empty for the top level.

    Returns:
        UC6307 for each such limit.
    """
    harmful = {"insufficient_capacity": block or reserved, "exceeds_environments": block}
    return [
        Finding(
            code="UC6307",
            problem="the queue uses "
            + ("a Capacity Block" if block else "reserved capacity")
            + ", and the limit would cancel jobs that wait for it to start",
            remedy="Leave it out; `ultracluster jobs why` shows what a job waits for",
            path=f"{path}.{name}".lstrip("."),
        )
        for name in limits
        if harmful.get(name)
    ]
