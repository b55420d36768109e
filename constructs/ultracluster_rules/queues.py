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
from ultracluster_rules.findings import Finding, quote, require
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
