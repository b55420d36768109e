"""`ultracluster rollout`: lock, plan, confirm, then run the steps and record them in a journal."""

import shlex
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli import options
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.target import ClusterTargets
from ultracluster_cli._aws.targets import open_targets
from ultracluster_cli._cdk.toolchain import Project, open_project
from ultracluster_cli._cdk.workspace import project_folder, rollout_file, state_directory
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.options import with_option_groups
from ultracluster_cli.output import counted, echo, print_json, print_table
from ultracluster_cli.pictures.waves import draw_waves
from ultracluster_cli.plan.cluster_locks import ClusterLocks
from ultracluster_cli.plan.planning import approved_plan
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_cli.preflight.command import check_codes
from ultracluster_cli.progress import if_interrupted
from ultracluster_cli.rollout import history, planning
from ultracluster_cli.rollout.display import RolloutDisplay, rows_of
from ultracluster_cli.rollout.step_runner import Steps, ThreadedExecutor
from ultracluster_runtime.preflight.check import REGION_IS_ENABLED
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_runtime.rollout.decide import Decision, Entry, Kind
from ultracluster_runtime.rollout.drive import drive
from ultracluster_runtime.rollout.journal import open_journal
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.rollout import Rollout

_NOT_LOCALLY = (REGION_IS_ENABLED,)  # moto reports opt-in Regions as disabled, but deploys to them
_DAY = 24 * 60
_POLL_SECONDS = 15.0
_POLL_SECONDS_LOCAL = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutRequest:
    """Options of `ultracluster rollout`."""

    rollout: options.RolloutArgument
    wave: options.WaveOption = None
    local: options.LocalOption = False
    bake: Annotated[
        float, typer.Option(min=0, max=_DAY, help="Minutes without a firing alarm before a cluster passes.")
    ] = 10
    at_once: Annotated[int, typer.Option(min=1, max=20, help="Clusters of a wave to deploy in parallel.")] = 4
    patience: Annotated[float, typer.Option(min=0, max=_DAY, help="Minutes to wait for a gate's job.")] = 60
    resume: Annotated[bool, typer.Option("--resume", help="Resume the stopped rollout as planned.")] = False
    restart: Annotated[
        bool, typer.Option("--restart", help="Abandon the stopped rollout and plan a new one.")
    ] = False
    rollback: Annotated[
        str | None,
        typer.Option(metavar="WAVE", help="Roll this wave back to its state before the last rollout."),
    ] = None
    allow: options.AllowOption = None
    skip: options.SkipOption = None
    yes: options.YesOption = False
    picture: options.PictureOption = None
    as_json: options.JsonOption = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _RolloutContext:
    """Values shared by the steps of a rollout."""

    request: RolloutRequest
    project: Project
    file: Path
    config: Rollout
    rollouts: Path
    targets: ClusterTargets
    locks: ClusterLocks


@with_option_groups
def rollout(request: RolloutRequest) -> None:
    """Deploy a rollout wave by wave, with gates in between.

    A wave starts when all clusters of the previous wave have passed their gates. Deploys exactly what was planned. Exits
    with code 3 if the plan is stopped, with 5 if the account did not answer what `deploy --yes` needs, and with 4 if a step
    fails; continue with --resume.
    """
    if sum([request.resume, request.restart, request.rollback is not None]) > 1:
        raise typer.BadParameter("specify only one of --resume, --restart and --rollback")
    if request.wave is not None and (request.resume or request.rollback is not None):
        raise typer.BadParameter("--wave cannot be combined with --resume or --rollback")
    file = rollout_file(request.rollout)
    loaded, clusters = load_clusters(request.rollout, wave=request.wave)
    check_codes(request.skip or [])
    state = state_directory(project_folder())
    rollouts = state / "rollouts"
    with (
        open_project() as project,
        history.rollout_lock(rollouts),
        open_targets(clusters, local=request.local, temporary=project.temporary) as targets,
        ClusterLocks(targets, state=state) as locks,
    ):
        context = _RolloutContext(
            request=request,
            project=project,
            file=file,
            config=loaded.config,
            rollouts=rollouts,
            targets=targets,
            locks=locks,
        )
        run = _run_to_resume(context) if request.resume else _plan(context)
        code = ExitCode.STOPPED if run is None else _run_steps(run, context)
    raise typer.Exit(code)


def _run_to_resume(context: _RolloutContext) -> history.Run:
    runs = history.runs_of(context.rollouts, context.file)
    if not runs or not runs[-1].open:
        problem = "nothing to resume: " + (
            "the last rollout has finished" if runs else "no rollout was started"
        )
        raise FindingsError.message(problem, location=str(context.file))
    plan = runs[-1].journal.plan
    findings = []
    if plan.digest != planning.rollout_digest(context.config):
        problem = f"the file has changed since the rollout {runs[-1].folder.name} was planned"
        remedy = "Plan again with --restart; up-to-date clusters are not changed"
        findings.append(Finding.message(problem, remedy=remedy, location=str(context.file)))
    targets = context.targets.only(cluster.name for cluster in plan.clusters)
    if plan.target != targets.account:
        problem = (
            f"the rollout {runs[-1].folder.name} deploys to {plan.target}, but the target is {targets.name}"
        )
        remedy = "Use credentials of that account, or plan again with --restart"
        findings.append(Finding.message(problem, remedy=remedy))
    reject(findings)
    context.locks.take(
        stack for cluster in plan.clusters for stack in planning.stacks_of(cluster, context.rollouts)
    )
    return runs[-1]


def _plan(context: _RolloutContext) -> history.Run | None:
    """Lock, plan, confirm, and start the journal. Return None if the plan is stopped."""
    request, targets = context.request, context.targets
    runs = history.runs_of(context.rollouts, context.file)
    unfinished = runs[-1] if runs and runs[-1].open else None
    if unfinished and not request.restart and request.rollback is None:
        problem = f"the rollout {unfinished.folder.name} has not finished"
        remedy = "Continue with --resume, plan again with --restart, or roll a wave back with --rollback WAVE"
        raise FindingsError.message(problem, remedy=remedy, location=str(context.file))
    folder = history.new_run_folder(context.rollouts, datetime.now(UTC))
    synthesized: Path | None = None
    if request.rollback is not None:
        wave = request.rollback
        forward = [run for run in runs if run.journal.plan.undoes is None and run.touched_wave(wave)]
        if not forward:
            problem = f"no rollout in this folder has deployed wave {quote(wave)} of this file"
            raise FindingsError.message(problem, location=str(context.file))
        earlier = runs[: runs.index(forward[-1])]
        plan = planning.plan_rollback(
            wave, undone=forward[-1], earlier=earlier, rollouts=context.rollouts, targets=targets
        )
        stacks = [
            stack for cluster in plan.clusters for stack in planning.stacks_of(cluster, context.rollouts)
        ]
        context.locks.take(stacks)
    else:
        synthesized = context.project.temporary / "rollout"
        context.project.synthesize(
            synthesized,
            rollout=context.file,
            wave=request.wave,
            environment=targets.environment,
        )
        stacks = assembled_stacks(synthesized)
        context.locks.take(stacks)
        plan = planning.plan_forward(
            context.config,
            file=context.file,
            wave=request.wave,
            targets=targets,
            bake_minutes=request.bake,
            stacks=stacks,
            assembly=f"{folder.name}/assembly",
        )
    if not approved_plan(
        stacks,
        targets=targets,
        clusters=context.config.clusters(request.wave),
        defined=context.config.clusters(),
        allowed=request.allow or (),
        yes=request.yes,
        as_json=request.as_json,
        question=f"Roll this out to {targets.name}?",
    ):
        return None
    folder.mkdir()
    if synthesized:
        shutil.move(synthesized, folder / "assembly")
    run = history.Run(folder=folder, journal=open_journal(folder / history.JOURNAL, plan, at=_now()))
    history.prune_assemblies(context.rollouts, [*runs, run])
    return run


def _run_steps(run: history.Run, context: _RolloutContext) -> ExitCode:
    plan, journal, targets = run.journal.plan, run.journal, context.targets
    stopping = threading.Event()
    echo(
        f"Rollout {run.folder.name}: {counted(len(plan.clusters), 'cluster')}, {counted(len(plan.waves), 'wave')}, to {targets.name}"
    )
    journal.append(Entry(kind=Kind.STARTED, at=_now()))
    local = ["--local"] if context.request.local else []
    again = shlex.join(["ultracluster", "rollout", str(context.request.rollout), *local])
    note = f"CloudFormation finishes the deployments that it has begun. To continue: {again} --resume"
    with if_interrupted(note), RolloutDisplay(plan, journal.entries) as display:
        steps = Steps(
            plan=plan,
            run_id=run.folder.name,
            rollouts=context.rollouts,
            accounts={cluster.stage: Account(clusters=(cluster,)) for cluster in context.config.clusters()},
            skip=(*(context.request.skip or ()), *(_NOT_LOCALLY if targets.local else ())),
            targets=targets,
            project=context.project,
            patience_minutes=context.request.patience,
            poll_seconds=_POLL_SECONDS_LOCAL if targets.local else _POLL_SECONDS,
            stopping=stopping,
            show=display.doing,
            hold=context.locks.require,
        )
        executor = ThreadedExecutor(take=steps.take, report=display.record, stopping=stopping)
        decision = drive(plan, journal, executor, at_once=context.request.at_once, now=_now)
    if context.request.picture is not None:
        drawing = draw_waves(plan, journal.entries, title=f"Rollout {run.folder.name}")
        context.request.picture.write_text(drawing.svg(), encoding="utf-8")
    _print_end(run, decision, calls=targets.calls, as_json=context.request.as_json, again=again)
    if stopping.is_set() and not decision.finished:
        raise KeyboardInterrupt
    return ExitCode.DONE if decision.finished else ExitCode.FAILED


def _print_end(
    run: history.Run, decision: Decision, *, calls: Mapping[str, int], as_json: bool, again: str
) -> None:
    name, plan, journal = run.folder.name, run.journal.plan, run.journal
    rows = rows_of(plan, journal.entries)
    ended = "finished" if decision.finished else "stopped" if decision.stopped else "given up"
    if as_json:
        print_json(rollout=name, ended=ended, undoes=plan.undoes, clusters=rows, calls=calls)
    else:
        print_table(rows, title=f"Rollout {name}: {ended}")
        echo(f"{sum(calls.values())} API calls, excluding those of the CDK CLI")
    failed = [row for row in rows if row["state"] == "failed"]
    begun = {row["wave"] for row in rows if row["state"] != "waiting"}
    waiting = [wave for wave in plan.waves if wave not in begun]
    for row in failed:
        echo(str(Finding.message(f"{row['cluster']}: {row['step']}: {row['note']}")))
    if not decision.finished:
        if waiting:
            echo(f"Not started: {', '.join(waiting)}.")
        echo(f"To continue once the error is fixed: {again} --resume")
        echo(f"To plan again with the current file: {again} --restart")
        if plan.undoes is None:
            for wave in filter(run.touched_wave, plan.waves):
                echo(f"To take wave {wave} back: {again} --rollback {wave}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
