"""Check a plan before anything is deployed: what is allowed, and the limits of CloudFormation."""

from collections.abc import Sequence

from ultracluster_cli.output import print_findings
from ultracluster_rules.findings import Finding, FindingsError, Severity, quote
from ultracluster_stacks.plan import Plan, StackTemplate, check_headroom

__all__ = ["check_allowed", "check_limits"]


def check_limits(stacks: Sequence[StackTemplate]) -> None:
    """Reject stacks that CloudFormation would refuse, and warn about stacks that are nearly full.

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
    """Reject an `--allow` that matches nothing: it may have been meant for a change that differs now.

    Args:
        plan: The plan.
        allowed: Words of what is allowed to happen.

    Raises:
        FindingsError: If a word names nothing that stops the plan (UC9203).
    """
    known = sorted({stop.allow for stop in plan.stops() if stop.allow})
    findings = [
        Finding(
            code="UC9203",
            problem=f"got --allow {quote(word)}, and nothing of this name stops the plan",
            allowed=", ".join(known) or "no --allow, since nothing stops the plan that could be allowed",
        )
        for word in allowed
        if word not in known
    ]
    if findings:
        raise FindingsError(findings)
