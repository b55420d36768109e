"""`ultracluster preflight`: check whether an account is ready for a rollout."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ultracluster_cli import options
from ultracluster_cli._aws.selection import clusters_named, clusters_of
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_cli.preflight.run import check_accounts, check_codes
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.live_facts import facts_on, live_facts, summarize
from ultracluster_runtime.preflight.run import CheckResult
from ultracluster_stacks.config import load_rollout

app = typer.Typer(add_completion=False)


@app.command()
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
    loaded = load_rollout(rollout)
    selected = clusters_named(clusters_of(loaded.config, wave), cluster or [], rollout=rollout)
    check_codes(skip or [])
    print_findings(loaded.warnings)
    results, sent = check_accounts(
        selected,
        skip=skip or [],
        local=local,
        profile=profile,
        qualifier=qualifier,
        ledger=(ledger, ledger_region) if ledger and ledger_region else None,
        seconds=timeout,
    )
    counts = Counter(result.outcome.status for result in results)
    passed = counts[Status.FAIL] == 0
    rows = [result_row(result) for result in results]
    if as_json:
        print_json(
            {
                "passed": passed,
                "results": rows,
                "calls": dict(sent),
                "warnings": [str(finding) for finding in loaded.warnings],
            }
        )
    else:
        print_results(rows, counts, calls=f"{sum(sent.values())} read-only API calls")
    if not passed:
        raise typer.Exit(ExitCode.FAILED)


def print_results(rows: Sequence[dict[str, Any]], counts: Counter[Status], *, calls: str) -> None:
    """Print what did not pass to stdout as a table, and the numbers of results and calls to stderr."""
    problems = [row for row in rows if row["status"] in {Status.FAIL, Status.WARN}]
    if problems:
        print_table(columns=["status", "code", "subject", "evidence", "remedy"], rows=problems)
    numbers = ", ".join(f"{counts[status]} {status}" for status in Status)
    say(f"{numbers}; {calls}")
    if live_tests := summarize(live_facts()):
        say(live_tests)


def result_row(result: CheckResult) -> dict[str, Any]:
    """Return the result of a check as a row of a table and of the JSON."""
    return {
        "code": result.code,
        "status": result.outcome.status,
        "subject": result.subject,
        "title": result.title,
        "evidence": result.outcome.evidence,
        "remedy": result.outcome.remedy or None,
        "live_tests": [str(fact) for fact in facts_on(result.code)],
    }
