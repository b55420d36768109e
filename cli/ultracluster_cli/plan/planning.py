"""Approve plans: check them against `--allow` options and the limits of CloudFormation, and ask."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import typer

from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.output import echo, print_findings
from ultracluster_cli.plan.account import ask_accounts, with_answers
from ultracluster_cli.plan.former_clusters import find_former_clusters
from ultracluster_cli.plan.output import print_plan
from ultracluster_cli.plan.stacks import deployed_stacks
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.record import is_error
from ultracluster_stacks.plan import Plan, StackTemplate, check_headroom, compare
from ultracluster_stacks.records import RECORDS as FILE_RECORDS

WITHOUT_ANSWERS: Final = "unanswered"
"""Value of `--allow` for what the account did not answer."""


def blocks_to_come(clusters: Iterable[Cluster]) -> frozenset[str]:
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
    """Reject stacks above the limits of CloudFormation (UC9650), and warn about stacks near them."""
    findings = check_headroom(stacks)
    if any(is_error(finding, FILE_RECORDS) for finding in findings):
        raise FindingsError(findings)
    print_findings(findings)


def check_allowed(plan: Plan, allowed: Sequence[str]) -> None:
    """Reject `--allow` values that match no stop, since the plan may have changed since they were chosen."""
    known = sorted({WITHOUT_ANSWERS, *(stop.allow for stop in plan.stops() if stop.allow)})
    findings = [
        Finding.message(
            f"--allow {quote(word)} matches nothing that stops the plan",
            allowed=", ".join(known),
        )
        for word in allowed
        if word not in known
    ]
    reject(findings)


def exit_code_of_plan(plan: Plan, allowed: Collection[str]) -> ExitCode:
    """Return the exit code of a plan: stopped, not known because an answer is missing, or done."""
    if plan.stopped(allowed):
        return ExitCode.STOPPED
    return ExitCode.UNKNOWN if plan.unanswered and WITHOUT_ANSWERS not in allowed else ExitCode.DONE


def compare_with_account(
    before: Sequence[StackTemplate],
    after: Sequence[StackTemplate],
    *,
    clusters: Sequence[Cluster],
    defined: Sequence[Cluster],
    targets: ClusterTargets,
) -> Plan:
    """Return a plan that knows what the accounts answer, and say in one line what they could not be asked.

    `defined` are all clusters of the rollout file, also those of other waves.
    """
    answers = ask_accounts(clusters, targets, after)
    former = find_former_clusters(before, after, clusters=clusters, defined=defined, targets=targets)
    before = [*before, *former.stacks]
    to_come = blocks_to_come(clusters)
    idle = frozenset(block for block in to_come if not answers.contradicts(block))
    plan = with_answers(compare(before, after, idle_blocks=idle), answers, idle_blocks=to_come)
    plan = replace(plan, unanswered=". ".join(filter(None, (plan.unanswered, former.unanswered))))
    if former.others:
        echo(
            f"Also deployed, and not in the rollout file: {', '.join(former.others)}. If a new cluster is one of them under another "
            "name, remove the former one with `ultracluster destroy` of the file that names it"
        )
    if plan.unanswered:
        echo(plan.unanswered)
    return plan


def approved_plan(
    stacks: Sequence[StackTemplate],
    *,
    targets: ClusterTargets,
    clusters: Sequence[Cluster],
    defined: Sequence[Cluster],
    allowed: Sequence[str],
    yes: bool,
    as_json: bool,
    question: str,
) -> Plan | None:
    """Compare stacks with what is deployed, show the plan, and ask unless the target is a local AWS.

    As JSON, the plan is shown only if it is stopped. Return None if it is, and abort if the answer is no. `--yes` alone does not
    accept what the account did not answer; the answer to the prompt and `--allow unanswered` do.
    """
    plan = compare_with_account(
        deployed_stacks(stacks, targets), stacks, clusters=clusters, defined=defined, targets=targets
    )
    check_allowed(plan, allowed)
    check_limits(stacks)
    code = exit_code_of_plan(plan, allowed)
    stopped = code is ExitCode.STOPPED
    if stopped or not (targets.local or as_json):
        print_plan(plan, against=targets.name, allowed=allowed)
    asks = not (plan.unchanged or targets.local or yes)
    if code is ExitCode.UNKNOWN and not asks:
        echo(
            "Nothing was changed, since an answer could have stopped it: permit the calls that were refused, or pass "
            f"--allow {WITHOUT_ANSWERS} to go on without the answers"
        )
        raise typer.Exit(code)
    if asks and not stopped:
        unknown = "What the account did not answer is not known. " if plan.unanswered else ""
        typer.confirm(unknown + question, abort=True, err=True)
    return None if stopped else plan
