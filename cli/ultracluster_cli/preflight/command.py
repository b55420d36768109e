"""`ultracluster preflight`: check whether an account is ready for a rollout."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ultracluster_cli import options
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.targets import open_targets
from ultracluster_cli._cdk.workspace import ledger_place, project_folder, run_directory, state_directory
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.output import echo, print_json, print_table
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.live_facts import facts_on, live_facts, summarize
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.run import CheckResult, run_checks
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_runtime.records import RECORDS as CHECK_RECORDS
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import reject


def preflight(
    rollout: options.RolloutArgument,
    *,
    wave: options.WaveOption = None,
    cluster: options.ClustersOption = None,
    skip: options.SkipOption = None,
    local: options.LocalOption = False,
    profile: options.RolloutProfileOption = None,
    qualifier: Annotated[str, typer.Option(help="CDK bootstrap qualifier.")] = "hnb659fds",
    ledger: options.LedgerOption = None,
    ledger_region: options.LedgerRegionOption = None,
    timeout: Annotated[float, typer.Option(help="Time limit for all checks, in seconds.")] = 120.0,
    as_json: options.JsonOption = False,
) -> None:
    """Check whether an account is ready for a rollout.

    Sends only read requests. Exits with code 4 if a check fails.
    """
    loaded, selected = load_clusters(rollout, wave=wave, names=cluster or [])
    check_codes(skip or [])
    results: list[CheckResult] = []
    sent: Counter[str] = Counter()
    deadline = time.monotonic() + timeout
    place = ledger_place(ledger, ledger_region)
    for name, clusters in _by_profile(selected, local=local, profile=profile).items():
        with _clients(clusters, local=local, profile=name) as client:
            reader = AwsReader(client, now=datetime.now(UTC), seconds=max(0.0, deadline - time.monotonic()))
            account = Account(clusters=tuple(clusters), qualifier=qualifier, ledger=place)
            results += run_checks(account, reader, skip=set(skip or ()), on_result=report_result)
            sent.update(client.sent)
    counts = Counter(result.outcome.status for result in results)
    passed = counts[Status.FAIL] == 0
    rows = [result_row(result) for result in results]
    if as_json:
        print_json(passed=passed, results=rows, calls=sent, warnings=loaded.warnings)
    else:
        print_results(rows, counts, calls=f"{sum(sent.values())} read-only API calls")
    if not passed:
        raise typer.Exit(ExitCode.FAILED)


def print_results(rows: Sequence[dict[str, Any]], counts: Counter[Status], *, calls: str) -> None:
    """Print what did not pass to stdout as a table, and the numbers of results and calls to stderr."""
    problems = [row for row in rows if row["status"] in {Status.FAIL, Status.WARN}]
    if problems:
        print_table(problems, columns=["status", "code", "subject", "evidence", "remedy"])
    numbers = ", ".join(f"{counts[status]} {status}" for status in Status)
    echo(f"{numbers}; {calls}")
    if live_tests := summarize(live_facts()):
        echo(live_tests)


def result_row(result: CheckResult) -> dict[str, Any]:
    """Return the result of a check as a row of a table and of the JSON."""
    return {
        "code": result.code,
        "status": result.outcome.status,
        "subject": result.subject,
        "title": CHECK_RECORDS[result.code].summary,
        "evidence": result.outcome.evidence,
        "remedy": result.outcome.remedy or None,
        "live_tests": facts_on(result.code),
    }


def _by_profile(
    clusters: Sequence[Cluster], *, local: bool, profile: str | None
) -> dict[str | None, list[Cluster]]:
    """Group clusters by profile, since those of an account share its quotas."""
    groups: dict[str | None, list[Cluster]] = {}
    for cluster in clusters:
        groups.setdefault(profile or (None if local else cluster.profile), []).append(cluster)
    return groups


def check_codes(codes: Sequence[str]) -> None:
    """Reject codes of checks that do not exist."""
    known = {check.code for check in CHECKS}
    allowed, remedy = f"{CHECKS[0].code} to {max(known)}", "See `ultracluster docs preflight`"
    reject(
        options.wrong_option("--skip", code, allowed=allowed, remedy=remedy)
        for code in codes
        if code not in known
    )


@contextmanager
def _clients(clusters: Sequence[Cluster], *, local: bool, profile: str | None) -> Iterator[Clients]:
    if not local:
        yield clients_of(profile)
        return
    with (
        run_directory(state_directory(project_folder())) as temporary,
        open_targets(clusters, local=True, temporary=temporary) as targets,
    ):
        echo(f"Checking {targets.name}")
        yield targets.of(clusters[0].stage).client


def report_result(result: CheckResult) -> None:
    """Print the outcome of a check to stderr, unless it was skipped."""
    if result.outcome.status is not Status.SKIP:
        live_tests = "".join(f" ({fact})" for fact in facts_on(result.code))
        echo(f"{result.outcome.status} {result.code} {result.subject}: {result.outcome.evidence}{live_tests}")
