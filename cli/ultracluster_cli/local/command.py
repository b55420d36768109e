"""`ultracluster local`: run a local AWS in the background."""

import dataclasses
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_cli._aws.targets import local_aws_findings
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.options import JsonOption, command_group
from ultracluster_cli.output import echo, print_json, print_table
from ultracluster_runtime.jobs.submission import refuse_option
from ultracluster_spec.findings import FindingsError, quote

with local_aws_findings():  # ultracluster_local is an optional dependency
    from ultracluster_cli._aws.local_target import (
        LOCAL_VARIABLE,
        local_clients,
        local_directory,
        read_clock,
    )
    from ultracluster_cli.local.clock import STAGES, move, stages, target_time
    from ultracluster_local.instance.environment import child_environment, local_variables
    from ultracluster_local.seeding.seed_client import move_clock, seed
    from ultracluster_local.server import daemon
    from ultracluster_local.server.daemon import Status

app = command_group(
    "Run a local AWS on this machine, without an account or costs.\n\nIts state is lost when it stops."
)

_Region = Annotated[str, typer.Option(help="Region of the environment.")]


@app.command()
@local_aws_findings()
def up(
    *,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port. Default: a free one.")] = None,
    run_jobs: Annotated[
        bool,
        typer.Option(
            "--run-jobs",
            help="Run jobs as processes on this machine, as the current user. Default: jobs wait in RUNNABLE.",
        ),
    ] = False,
    image: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IMAGE=FOLDER",
            help="With --run-jobs: folder of a virtual environment whose programs take the place of a container image, without its tag; "
            "repeatable. Default: this Python takes the place of AWS's Neuron images.",
        ),
    ] = None,
    region: _Region = "us-east-2",
    as_json: JsonOption = False,
) -> None:
    """Start a local AWS in the background and print its environment variables."""
    images = read_images(image or [])
    if images and not run_jobs:
        raise FindingsError([refuse_option("--image", "an image", remedy="Add --run-jobs")])
    running = daemon.up(local_directory(), port=port, jobs=images if run_jobs else None)
    environment = _environment(running, region)
    if as_json:
        print_json(**_status(running), environment=environment)
        return
    echo(f"The local AWS is running at {running.endpoint} (process {running.pid}; log {running.log}).")
    echo('To use it in this shell, run: eval "$(ultracluster local env)"')
    _print_exports(environment)


@app.command()
@local_aws_findings()
def env(*, region: _Region = "us-east-2") -> None:
    """Print the environment variables of the local AWS, as in eval "$(ultracluster local env)"."""
    running = daemon.status(local_directory())
    if running is None:
        raise _not_running()
    _print_exports(_environment(running, region))


@app.command()
@local_aws_findings()
def status(*, as_json: JsonOption = False) -> None:
    """Show the status of the local AWS.

    Exits with code 6 if none is running.
    """
    running = daemon.status(local_directory())
    recorded = move_clock(endpoint=running.endpoint, key=running.key)["recorded_only"] if running else []
    if as_json:
        print_json(**_status(running), recorded_only=recorded)
    elif running is not None:
        print_table([{"endpoint": running.endpoint, "pid": str(running.pid), "log": running.log}])
        if recorded:
            echo(f"Recorded only, not simulated: {', '.join(recorded)}")
    if running is None:
        raise _not_running()


@app.command()
@local_aws_findings()
def reset(*, region: _Region = "us-east-2") -> None:
    """Empty the local AWS and bootstrap the Region for the CDK again."""
    daemon.reset(local_directory())
    if running := daemon.status(local_directory()):
        _environment(running, region)  # bootstraps the Region
    echo("The local AWS is empty.")


@app.command()
@local_aws_findings()
def clock(
    by: Annotated[
        str | None,
        typer.Argument(metavar="TIME", help="New time, such as +13d, +90m or 2026-12-01T11:30:00Z."),
    ] = None,
    *,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(STAGES),
            help="Move the clock to one minute after the next such stage of a Capacity Block.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            min=0,
            help="Seconds to wait at each stage on the way while jobs run, because jobs run in real time.",
        ),
    ] = 10,
    region: Annotated[str, typer.Option(help="Region of the Capacity Blocks.")] = "us-east-2",
    as_json: JsonOption = False,
) -> None:
    """Show the clock of the local AWS, or move it forward and run everything due until then.

    Without TIME and --to, only shows the clock and the future times of its Capacity Blocks.
    """
    endpoint, key = _address()
    if to is not None and (to not in STAGES or by is not None):
        got = f"{quote(to)} and TIME" if to in STAGES else quote(to)
        raise FindingsError([refuse_option("--to", got, allowed=f"TIME, or one of {', '.join(STAGES)}")])
    now = read_clock(endpoint=endpoint, key=key)  # first: it refuses an endpoint that is not a local AWS
    known = stages(local_clients(endpoint, key).in_region(region))
    delivered: list[Mapping[str, Any]] = []
    if by is not None or to is not None:
        target = target_time(by, to, now=now, known=known)
        delivered = move(target, endpoint=endpoint, key=key, known=known, wait=wait, report=echo)
        now = read_clock(endpoint=endpoint, key=key)
    failures = [call for call in delivered if call["error"]]
    ahead = [stage for stage in known if stage.at > now]
    if as_json:
        print_json(now=now, delivered=delivered, ahead=[dataclasses.asdict(stage) for stage in ahead])
        return
    for call in failures:
        echo(f"{call['at']}: {call['target']} failed: {call['error']}")
    if by is None and to is None:
        for stage in ahead:
            echo(f"{stage.at:%Y-%m-%d %H:%M} UTC: {stage.name} of {stage.reservation}")
    typer.echo(f"{now:%Y-%m-%dT%H:%M:%SZ}")


@app.command()
@local_aws_findings()
def down() -> None:
    """Stop the local AWS and delete its state.

    In a shell that uses it, eval "$(ultracluster local down)" also removes its variables.
    """
    echo("Stopped the local AWS." if daemon.down(local_directory()) else "No local AWS was running here.")
    if LOCAL_VARIABLE in os.environ:
        if sys.stdout.isatty():
            echo('This shell still has its variables. To remove them, run: eval "$(ultracluster local down)"')
            return
        names = local_variables(endpoint="http://localhost:1", key="", region="")
        typer.echo(f"unset {LOCAL_VARIABLE} {' '.join(sorted(names))}")


def read_images(assignments: Sequence[str]) -> dict[str, Path]:
    """Read ``IMAGE=FOLDER`` pairs, and return the folders with the programs, which must have some (UC6204)."""
    images = {}
    for text in assignments:
        image, _, name = text.rpartition("=")
        folder = Path(name).absolute()
        programs = folder / "bin" if (folder / "bin").is_dir() else folder
        if not image or not (programs / "python3").exists():
            allowed = "IMAGE=FOLDER with the folder of a virtual environment"
            raise FindingsError([refuse_option("--image", quote(text), allowed=allowed)])
        images[image] = programs
    return images


def _address() -> tuple[str, str]:
    """Return endpoint and key of the local AWS of this folder, or of the one in the environment."""
    running = daemon.status(local_directory())
    if running is not None:
        return running.endpoint, running.key
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if endpoint is None:
        raise _not_running()
    return endpoint, os.environ.get("AWS_ACCESS_KEY_ID", "")


def _status(running: Status | None) -> dict[str, Any]:
    return {
        "running": running is not None,
        "endpoint": running.endpoint if running else None,
        "pid": running.pid if running else None,
        "log": str(running.log) if running else None,
    }


def _environment(running: Status, region: str) -> dict[str, str]:
    """Bootstrap the Region, and return the environment variables for a shell."""
    seed(endpoint=running.endpoint, key=running.key, regions=[region])
    variables = child_environment(endpoint=running.endpoint, key=running.key, region=region, base={})
    return variables | {LOCAL_VARIABLE: str(local_directory())}


def _print_exports(environment: dict[str, str]) -> None:
    # A profile would take precedence over the access keys.
    typer.echo("unset AWS_PROFILE AWS_DEFAULT_PROFILE AWS_SESSION_TOKEN")
    for name, value in sorted(environment.items()):
        typer.echo(f"export {name}={shlex.quote(value)}")


def _not_running() -> typer.Exit:
    echo("No local AWS is running here. Start one with: ultracluster local up")
    return typer.Exit(ExitCode.NOT_RUNNING)
