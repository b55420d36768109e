"""Runs preflight on a rollout and shows what came of it."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from botocore.config import Config

from ultracluster_cli._aws.clients import Client
from ultracluster_cli._aws.selection import called, clusters_of
from ultracluster_cli._aws.targets import local_aws
from ultracluster_cli._cdk.workspace import run_directory, state_directory
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_cli.preflight.requirements import rollout_needs
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.aws.aws_session import aws_session
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.run import CheckResult, run_checks
from ultracluster_stacks.config import ClusterConfig, load_rollout

__all__ = ["check_codes", "preflight_rollout"]

# botocore's standard mode waits longer after each attempt, and asks less of a service that throttles.
_CONFIG = Config(
    retries={"total_max_attempts": 5, "mode": "standard"},
    connect_timeout=5,
    read_timeout=20,
    max_pool_connections=16,
)


def preflight_rollout(
    path: Path,
    *,
    wave: str | None,
    clusters: Sequence[str],
    left_out: Sequence[str],
    local: bool,
    profile: str | None,
    qualifier: str,
    ledger: tuple[str, str] | None,
    seconds: float,
    as_json: bool,
) -> bool:
    """Look at an account for a rollout, and print what came of each check.

    Args:
        path: The rollout file.
        wave: Only the clusters of this wave. None for all.
        clusters: Only the clusters of these names. Empty for all.
        left_out: Codes of checks to leave out.
        local: Look at a local AWS.
        profile: Profile of the shared configuration. None for that of each cluster.
        qualifier: Of the CDK's bootstrap.
        ledger: Table and Region of the ledger of orders. None without one.
        seconds: Deadline of all checks together.
        as_json: Print JSON.

    Returns:
        Whether no check failed.

    Raises:
        FindingsError: With every mistake of the file, or for a wave (UC9008), cluster (UC2201), code (UC9455) or
            profile (UC9009) that does not exist.
    """
    loaded = load_rollout(path)
    chosen = called(clusters_of(loaded.config, wave), clusters, rollout=path)
    check_codes(left_out)
    print_findings(loaded.warnings)
    results: list[CheckResult] = []
    sent: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    for named, ours in _by_profile(chosen, local=local, profile=profile).items():
        with _clients(ours, local=local, profile=named) as client:
            reader = AwsReader(client, now=datetime.now(UTC), seconds=max(0.0, deadline - time.monotonic()))
            results += run_checks(
                rollout_needs(ours, qualifier=qualifier, ledger=ledger),
                reader,
                skip=set(left_out),
                on_result=_tell,
            )
            sent.update(reader.call_counts)
    counts = Counter(result.outcome.status for result in results)
    good = counts[Status.FAIL] == 0
    rows = [_row(result) for result in results]
    if as_json:
        print_json(
            {
                "passed": good,
                "results": rows,
                "calls": dict(sent),
                "warnings": [str(finding) for finding in loaded.warnings],
            }
        )
        return good
    told = [row for row in rows if row["status"] in {Status.FAIL, Status.WARN}]
    if told:
        print_table(columns=["status", "code", "subject", "evidence", "remedy"], rows=told)
    numbers = ", ".join(f"{counts[status]} {status}" for status in Status)
    say(f"{numbers}; {sum(sent.values())} calls, all of them reading")
    return good


def _by_profile(
    clusters: Sequence[ClusterConfig], *, local: bool, profile: str | None
) -> dict[str | None, list[ClusterConfig]]:
    """Put the clusters of an account together, since they share its quotas."""
    groups: dict[str | None, list[ClusterConfig]] = {}
    for cluster in clusters:
        groups.setdefault(profile or (None if local else cluster.profile), []).append(cluster)
    return groups


def check_codes(codes: Sequence[str]) -> None:
    """Refuse codes that are no checks.

    Args:
        codes: Codes of checks to leave out.

    Raises:
        FindingsError: If preflight has no such check (UC9455).
    """
    known = {check.code for check in CHECKS}
    if unknown := [code for code in codes if code not in known]:
        raise FindingsError(
            [
                Finding(
                    code="UC9455",
                    problem=f"got {quote(code)}",
                    allowed=f"{CHECKS[0].code} to {max(known)}",
                    remedy="docs/preflight.md lists them",
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
            say(f"Looking at {target.name}")
            yield target.client
        return
    session = aws_session(profile)
    yield cache(lambda service, region: session.client(service, region_name=region, config=_CONFIG))


def _tell(result: CheckResult) -> None:
    if result.outcome.status is not Status.SKIP:
        say(f"{result.outcome.status} {result.code} {result.subject}: {result.outcome.evidence}")


def _row(result: CheckResult) -> dict[str, Any]:
    return {
        "code": result.code,
        "status": result.outcome.status,
        "subject": result.subject,
        "title": result.title,
        "evidence": result.outcome.evidence,
        "remedy": result.outcome.remedy or None,
    }
