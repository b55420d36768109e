"""Run preflight checks on the accounts of clusters."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from botocore.config import Config

from ultracluster_cli._aws.clients import Client
from ultracluster_cli._aws.targets import local_aws
from ultracluster_cli._cdk.workspace import run_directory, state_directory
from ultracluster_cli.output import say
from ultracluster_cli.preflight.requirements import rollout_requirements
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.aws.aws_session import aws_session
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.live_facts import facts_on
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.run import CheckResult, run_checks
from ultracluster_stacks.config import ClusterConfig

# The standard retry mode backs off when a service throttles.
_CONFIG = Config(
    retries={"total_max_attempts": 5, "mode": "standard"},
    connect_timeout=5,
    read_timeout=20,
    max_pool_connections=16,
)


def check_accounts(
    clusters: Sequence[ClusterConfig],
    *,
    skip: Sequence[str],
    local: bool,
    profile: str | None,
    qualifier: str,
    ledger: tuple[str, str] | None,
    seconds: float,
) -> tuple[list[CheckResult], Counter[str]]:
    """Run the checks on the account of each cluster.

    Args:
        clusters: The clusters.
        skip: Codes of checks to skip.
        local: Whether to check a local AWS.
        profile: AWS profile. None for the profile of each cluster.
        qualifier: CDK bootstrap qualifier.
        ledger: Table and Region of the capacity ledger. None without one.
        seconds: Time limit for all checks.

    Returns:
        The result of each check, and the number of requests by API call.

    Raises:
        FindingsError: If a profile does not exist (UC9009).
    """
    results: list[CheckResult] = []
    sent: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    for profile_name, profile_clusters in _by_profile(clusters, local=local, profile=profile).items():
        with _clients(profile_clusters, local=local, profile=profile_name) as client:
            reader = AwsReader(client, now=datetime.now(UTC), seconds=max(0.0, deadline - time.monotonic()))
            results += run_checks(
                rollout_requirements(profile_clusters, qualifier=qualifier, ledger=ledger),
                reader,
                skip=set(skip),
                on_result=report_result,
            )
            sent.update(reader.call_counts)
    return results, sent


def _by_profile(
    clusters: Sequence[ClusterConfig], *, local: bool, profile: str | None
) -> dict[str | None, list[ClusterConfig]]:
    """Group clusters by profile, since those of an account share its quotas."""
    groups: dict[str | None, list[ClusterConfig]] = {}
    for cluster in clusters:
        groups.setdefault(profile or (None if local else cluster.profile), []).append(cluster)
    return groups


def check_codes(codes: Sequence[str]) -> None:
    """Reject codes of checks that do not exist.

    Raises:
        FindingsError: If a check does not exist (UC9455).
    """
    known = {check.code for check in CHECKS}
    if unknown := [code for code in codes if code not in known]:
        raise FindingsError(
            [
                Finding(
                    code="UC9455",
                    problem=f"got {quote(code)}",
                    allowed=f"{CHECKS[0].code} to {max(known)}",
                    remedy="See `ultracluster docs preflight`",
                    path="--skip",
                )
                for code in unknown
            ]
        )


@contextmanager
def _clients(clusters: Sequence[ClusterConfig], *, local: bool, profile: str | None) -> Iterator[Client]:
    if local:
        state = state_directory(Path.cwd())
        with (
            run_directory(state) as temporary,
            local_aws(clusters, background=state / "local", temporary=temporary, steps={}) as target,
        ):
            say(f"Checking {target.name}")
            yield target.client
        return
    session = aws_session(profile)
    yield cache(lambda service, region: session.client(service, region_name=region, config=_CONFIG))


def report_result(result: CheckResult) -> None:
    """Print the outcome of a check to stderr, unless it was skipped."""
    if result.outcome.status is not Status.SKIP:
        live_tests = "".join(f" ({fact})" for fact in facts_on(result.code))
        say(f"{result.outcome.status} {result.code} {result.subject}: {result.outcome.evidence}{live_tests}")
