"""Rolls out: lock, plan, ask, then step by step, with a journal of all that was done."""

import shutil
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import typer

from ultracluster_cli._aws.cluster_targets import ClusterTargets, one_target, targets_by_profile
from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli._aws.targets import account, local_aws
from ultracluster_cli._cdk.cdk_synthesis import synthesize_into
from ultracluster_cli._cdk.toolchain import Toolchain, find_toolchain
from ultracluster_cli._cdk.workspace import rollout_file, run_directory, state_directory
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_cli.plan.output import print_plan
from ultracluster_cli.plan.planning import check_allowed, check_limits
from ultracluster_cli.plan.stacks import AssembledStack, assembled_stacks, deployed_by_target
from ultracluster_cli.preflight.requirements import rollout_needs
from ultracluster_cli.preflight.run import check_codes
from ultracluster_cli.rollout.display import RolloutDisplay, rows_of
from ultracluster_cli.rollout.executor import ThreadHands
from ultracluster_cli.rollout.history import (
    JOURNAL,
    Run,
    new_run_folder,
    only_rollout,
    prune_assemblies,
    runs_of,
)
from ultracluster_cli.rollout.planning import plan_forward, plan_rollback, rollout_digest, stacks_of
from ultracluster_cli.rollout.step_runner import Steps
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.rollout.drive import drive
from ultracluster_runtime.rollout.journal import FileJournal, open_journal
from ultracluster_runtime.rollout.machine import Decision, Entry, Kind
from ultracluster_runtime.rollout.plan import RolloutPlan
from ultracluster_stacks.config import RolloutConfig, load_rollout
from ultracluster_stacks.plan import compare

__all__ = ["Wish", "roll_out"]

_NOT_LOCALLY = (
    "UC9404",
)  # moto shows Regions that are enabled by hand as never enabled, and deploys to them
_QUALIFIER = "hnb659fds"  # of the bootstrap that the CDK CLI uses without a word from us
_POLL_SECONDS = 15.0
_POLL_SECONDS_LOCAL = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What a person asks for; see `ultracluster rollout --help`.

    Attributes:
        directory: Folder of the CDK app.
        rollout: The rollout file. None for the one that cdk.json names.
        wave: The one wave. None for all.
        local: To a local AWS.
        bake_minutes: How long no alarm may be heard.
        at_once: Clusters at the same time.
        patience_minutes: How long to wait for a job of a gate.
        resume: Go on with the one that has stopped.
        restart: Give that one up.
        rollback: The wave to roll back. None for a rollout forward.
        allowed: Words of what may happen.
        skip: Codes of checks of preflight to leave out.
        unattended: Never ask.
        as_json: Print JSON instead of tables.
    """

    directory: Path
    rollout: Path | None
    wave: str | None
    local: bool
    bake_minutes: float
    at_once: int
    patience_minutes: float
    resume: bool
    restart: bool
    rollback: str | None
    allowed: tuple[str, ...]
    skip: tuple[str, ...]
    unattended: bool
    as_json: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """What a rollout works with."""

    wish: Wish
    file: Path
    config: RolloutConfig
    toolchain: Toolchain
    state: Path
    rollouts: Path
    temporary: Path
    targets: ClusterTargets


def roll_out(wish: Wish) -> bool:
    """Roll out, resume or roll back, and print how it ended.

    Args:
        wish: What is asked for.

    Returns:
        Whether every step was taken.

    Raises:
        FindingsError: If the rollout is wrong, a tool is missing, or one of UC9601 to UC9608 is broken.
    """
    file = rollout_file(wish.directory, wish.rollout)
    loaded = load_rollout(file)
    print_findings(loaded.warnings)
    clusters = clusters_of(loaded.config, wish.wave)
    check_codes(wish.skip)
    toolchain = find_toolchain(wish.directory)
    state = state_directory(wish.directory)
    rollouts = state / "rollouts"
    with (
        only_rollout(rollouts),
        run_directory(state) as temporary,
        ExitStack() as stack,
    ):
        if wish.local:
            fake = local_aws(clusters, background=state / "local", temporary=temporary, steps={})
            targets = one_target(stack.enter_context(fake))
        else:
            targets = stack.enter_context(targets_by_profile(clusters, account))
        place = _Place(
            wish=wish,
            file=file,
            config=loaded.config,
            toolchain=toolchain,
            state=state,
            rollouts=rollouts,
            temporary=temporary,
            targets=targets,
        )
        run = _resumed(place) if wish.resume else _planned(place)
        return run is not None and _run(run, place)


def _resumed(place: _Place) -> Run:
    runs = runs_of(place.rollouts, place.file)
    if not runs or not runs[-1].open:
        problem = "there is nothing to resume: " + ("the last rollout is over" if runs else "there was none")
        raise FindingsError([Finding(code="UC9604", problem=problem, location=str(place.file))])
    plan = runs[-1].journal.plan
    findings = []
    if plan.digest != rollout_digest(place.config):
        problem = f"the file has changed since the rollout {runs[-1].folder.name} was planned"
        remedy = "Plan anew with --restart: clusters that are as the file says are not changed again"
        findings.append(Finding(code="UC9605", problem=problem, remedy=remedy, location=str(place.file)))
    there = place.targets.only(each.name for each in plan.clusters)
    if plan.target != there.account:
        problem = f"the rollout {runs[-1].folder.name} went to {plan.target}, and this is {there.name}"
        remedy = "Take the credentials of that account, or plan anew with --restart"
        findings.append(Finding(code="UC9606", problem=problem, remedy=remedy))
    if findings:
        raise FindingsError(findings)
    return runs[-1]


def _planned(place: _Place) -> Run | None:
    """Plan, show it, ask, and begin the journal. None if the plan is stopped."""
    wish, targets = place.wish, place.targets
    runs = runs_of(place.rollouts, place.file)
    unfinished = runs[-1] if runs and runs[-1].open else None
    if unfinished and not wish.restart and wish.rollback is None:
        problem = f"the rollout {unfinished.folder.name} has not finished"
        remedy = "Go on with --resume; or plan anew with --restart; or take a wave back with --rollback WAVE"
        raise FindingsError(
            [Finding(code="UC9603", problem=problem, remedy=remedy, location=str(place.file))]
        )
    folder = new_run_folder(place.rollouts, datetime.now(UTC))
    synthesized: Path | None = None
    if wish.rollback is not None:
        wave = wish.rollback
        forward = [run for run in runs if run.journal.plan.undoes is None and run.touched_wave(wave)]
        if not forward:
            problem = f"no rollout of this file has deployed a wave {quote(wave)} from here"
            raise FindingsError([Finding(code="UC9607", problem=problem, location=str(place.file))])
        earlier = runs[: runs.index(forward[-1])]
        plan = plan_rollback(
            wave, undone=forward[-1], earlier=earlier, rollouts=place.rollouts, targets=targets
        )
        stacks = [one for cluster in plan.clusters for one in stacks_of(cluster, place.rollouts)]
    else:
        synthesized = place.temporary / "rollout"
        synthesize_into(
            synthesized,
            toolchain=place.toolchain,
            directory=wish.directory,
            rollout=place.file,
            wave=wish.wave,
            temporary=place.temporary,
            environment=next(iter(targets.targets.values())).environment,
        )
        stacks = assembled_stacks(synthesized)
        plan = plan_forward(
            place.config,
            file=place.file,
            wave=wish.wave,
            targets=targets,
            bake_minutes=wish.bake_minutes,
            stacks=stacks,
            assembly=f"{folder.name}/assembly",
        )
    if not _agreed(stacks, place):
        return None
    folder.mkdir()
    if synthesized:
        shutil.move(synthesized, folder / "assembly")
    run = Run(folder=folder, journal=open_journal(folder / JOURNAL, plan, at=_now()))
    prune_assemblies(place.rollouts, [*runs, run])
    return run


def _agreed(stacks: list[AssembledStack], place: _Place) -> bool:
    """Show what will happen; ask before a real account is changed."""
    wish, targets = place.wish, place.targets
    before = deployed_by_target(stacks, targets)
    plan = compare(before, [one.stack for one in stacks])
    check_allowed(plan, wish.allowed)
    check_limits([one.stack for one in stacks])
    stopped = plan.stopped(wish.allowed)
    if stopped or not (targets.local or wish.as_json):
        print_plan(plan, against=targets.name, allowed=wish.allowed)
    if stopped or targets.local or wish.unattended:
        return not stopped
    return typer.confirm(f"Roll this out to {targets.name}?", abort=True, err=True)


def _run(run: Run, place: _Place) -> bool:
    plan, journal, targets = run.journal.plan, run.journal, place.targets
    stopping = threading.Event()
    say(
        f"Rollout {run.folder.name}: {len(plan.clusters)} cluster(s), {len(plan.waves)} wave(s), to {targets.name}"
    )
    journal.append(Entry(kind=Kind.STARTED, at=_now()))
    with RolloutDisplay(plan, journal.entries) as display:
        steps = Steps(
            plan=plan,
            run_id=run.folder.name,
            rollouts=place.rollouts,
            needs={
                each.stage: rollout_needs([each], qualifier=_QUALIFIER)
                for each in clusters_of(place.config, None)
            },
            skip=(*place.wish.skip, *(_NOT_LOCALLY if targets.local else ())),
            targets=targets,
            toolchain=place.toolchain,
            directory=place.wish.directory,
            state=place.state,
            temporary=place.temporary,
            patience_minutes=place.wish.patience_minutes,
            poll_seconds=_POLL_SECONDS_LOCAL if targets.local else _POLL_SECONDS,
            stopping=stopping,
            show=display.doing,
        )
        hands = ThreadHands(steps.take, told=display.told, stopping=stopping)
        decision = drive(plan, journal, hands, at_once=place.wish.at_once, now=_now)
    _tell(run.folder.name, plan, journal, decision, calls=targets.calls, as_json=place.wish.as_json)
    if stopping.is_set() and not decision.finished:
        raise KeyboardInterrupt
    return decision.finished


def _tell(
    name: str,
    plan: RolloutPlan,
    journal: FileJournal,
    decision: Decision,
    *,
    calls: Mapping[str, int],
    as_json: bool,
) -> None:
    rows = rows_of(plan, journal.entries)
    ended = "finished" if decision.finished else "stopped" if decision.stopped else "given up"
    if as_json:
        print_json({"rollout": name, "ended": ended, "undoes": plan.undoes, "clusters": rows, "calls": calls})
    else:
        print_table(columns=list(rows[0]), rows=rows, title=f"Rollout {name}: {ended}")
        say(f"{sum(calls.values())} calls, beside those of the CDK CLI")
    failed = [row for row in rows if row["state"] == "failed"]
    begun = {row["wave"] for row in rows if row["state"] != "waiting"}
    waiting = [wave for wave in plan.waves if wave not in begun]
    for row in failed:
        say(str(Finding(code="UC9609", problem=f"{row['cluster']}: {row['step']}: {row['note']}")))
    if not decision.finished:
        untouched = f"Not touched: {', '.join(waiting)}. " if waiting else ""
        say(f"{untouched}Repair the cause and go on with --resume, or plan anew with --restart.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
