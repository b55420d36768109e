"""Check plans against `--allow` options and the limits of CloudFormation, and find blocks that have not started."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from ultracluster_cli.output import print_findings
from ultracluster_rules.findings import Finding, FindingsError, Severity, quote
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.plan import Plan, StackTemplate, check_headroom


def blocks_to_come(clusters: Iterable[ClusterConfig]) -> frozenset[str]:
    """Return the reservations of Capacity Blocks that have not started, as far as the rollout says.

    Blocks that have ended are not among them: they may have been extended since the rollout was written.
    """
    now = datetime.now(tz=UTC)
    return frozenset(
        capacity.reservation_id
        for cluster in clusters
        for _, capacity in cluster.sources()
        if capacity.reservation_id is not None and capacity.start is not None and capacity.start > now
    )


def check_limits(stacks: Sequence[StackTemplate]) -> None:
    """Reject stacks above the limits of CloudFormation, and warn about stacks near them.

    Raises:
        FindingsError: If a stack is too large (UC9650).
    """
    findings = check_headroom(stacks)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise FindingsError(findings)
    print_findings(findings)


def check_allowed(plan: Plan, allowed: Sequence[str]) -> None:
    """Reject `--allow` values that match no stop, since the plan may have changed since they were chosen.

    Raises:
        FindingsError: If a value matches nothing that stops the plan (UC9203).
    """
    known = sorted({stop.allow for stop in plan.stops() if stop.allow})
    findings = [
        Finding(
            code="UC9203",
            problem=f"--allow {quote(word)} matches nothing that stops the plan",
            allowed=", ".join(known) or "no --allow, since no stop can be allowed",
        )
        for word in allowed
        if word not in known
    ]
    if findings:
        raise FindingsError(findings)
