"""Check plans against `--allow` options and the limits of CloudFormation."""

from collections.abc import Sequence

from ultracluster_cli.output import print_findings
from ultracluster_rules.findings import Finding, FindingsError, Severity, quote
from ultracluster_stacks.plan import Plan, StackTemplate, check_headroom

__all__ = ["check_allowed", "check_limits"]


def check_limits(stacks: Sequence[StackTemplate]) -> None:
    """Reject stacks above the limits of CloudFormation, and warn about stacks near them.

    Args:
        stacks: The stacks.

    Raises:
        FindingsError: If a stack is too large (UC9650).
    """
    findings = check_headroom(stacks)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise FindingsError(findings)
    print_findings(findings)


def check_allowed(plan: Plan, allowed: Sequence[str]) -> None:
    """Reject `--allow` values that match no stop, since the plan may have changed since they were chosen.

    Args:
        plan: The plan.
        allowed: Values of `--allow`.

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
