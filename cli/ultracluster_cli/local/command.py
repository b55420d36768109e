"""`ultracluster local`: run a local AWS in the background."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_cli._aws.local_errors import local_aws_findings
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.options import JsonOption
from ultracluster_cli.output import print_json, print_table, say

with local_aws_findings():  # ultracluster_local is an optional dependency
    from ultracluster_local.instance.environment import child_environment
    from ultracluster_local.seeding.seed_client import seed
    from ultracluster_local.server import daemon
    from ultracluster_local.server.daemon import DEFAULT_DIRECTORY, Status

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Run a local AWS on this machine: no account, no cost.\n\nIts state is lost when it stops.",
)

_Region = Annotated[str, typer.Option(help="Region of the environment.")]


@app.command()
@local_aws_findings()
def up(
    *,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port. Default: a free one.")] = None,
    region: _Region = "us-east-2",
    as_json: JsonOption = False,
) -> None:
    """Start a local AWS in the background and print its environment variables."""
    running = daemon.up(_directory(), port=port)
    environment = _environment(running, region)
    if as_json:
        print_json({**_status(running), "environment": environment})
        return
    say(f"The local AWS is running at {running.endpoint} (process {running.pid}; log {running.log}).")
    say('To use it in this shell, run: eval "$(ultracluster local env)"')
    _print_exports(environment)


@app.command()
@local_aws_findings()
def env(*, region: _Region = "us-east-2") -> None:
    """Print the environment variables of the local AWS, as in eval "$(ultracluster local env)"."""
    running = daemon.status(_directory())
    if running is None:
        raise _not_running()
    _print_exports(_environment(running, region))


@app.command()
@local_aws_findings()
def status(*, as_json: JsonOption = False) -> None:
    """Show the status of the local AWS.

    Exits with code 6 if none is running.
    """
    running = daemon.status(_directory())
    if as_json:
        print_json(_status(running))
    elif running is not None:
        print_table(columns=["endpoint", "pid", "log"], rows=[{**_status(running), "pid": str(running.pid)}])
    if running is None:
        raise _not_running()


@app.command()
@local_aws_findings()
def reset(*, region: _Region = "us-east-2") -> None:
    """Empty the local AWS and bootstrap the Region for the CDK again."""
    daemon.reset(_directory())
    if running := daemon.status(_directory()):
        _environment(running, region)  # bootstraps the Region
    say("The local AWS is empty.")


@app.command()
@local_aws_findings()
def down() -> None:
    """Stop the local AWS and delete its state."""
    say("Stopped the local AWS." if daemon.down(_directory()) else "No local AWS was running.")


def _directory() -> Path:
    return Path.cwd() / DEFAULT_DIRECTORY


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
    return child_environment(endpoint=running.endpoint, key=running.key, region=region, base={})


def _print_exports(environment: dict[str, str]) -> None:
    # A profile would take precedence over the access keys.
    typer.echo("unset AWS_PROFILE AWS_DEFAULT_PROFILE AWS_SESSION_TOKEN")
    for name, value in sorted(environment.items()):
        typer.echo(f"export {name}={shlex.quote(value)}")


def _not_running() -> typer.Exit:
    say("No local AWS is running here. Start one with: ultracluster local up")
    return typer.Exit(ExitCode.NOT_RUNNING)
