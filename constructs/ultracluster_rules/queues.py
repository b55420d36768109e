"""Rules for AWS Batch job queues: fair shares and limits on waiting jobs."""

import re
from collections.abc import Collection, Mapping
from itertools import combinations, permutations
from typing import Final

from ultracluster_catalog.limits.queues import MOST_PARTS, MOST_SHARES
from ultracluster_rules.findings import Finding, quote

__all__ = ["check_shares", "check_wait_limits"]


_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9]{1,255}\*?")


def check_shares(parts: Mapping[str, int], *, path: str) -> list[Finding]:
    """Check fair shares for what AWS Batch would reject.

    Args:
        parts: Parts of each share identifier.
        path: Path of the shares in the input.

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
