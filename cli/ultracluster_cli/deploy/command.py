"""`ultracluster deploy`: the command line of it; the work is in `ultracluster_cli.deploy.deployment`."""

from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.options import JsonOption, OptionalRolloutArgument, WaveOption

__all__ = ["app", "deploy"]

app = typer.Typer(add_completion=False)


@app.command()
def deploy(
    rollout: OptionalRolloutArgument = None,
    *,
    local: Annotated[
        bool, typer.Option("--local", help="Deploy to a local AWS on this machine: no account, no cost.")
    ] = False,
    wave: WaveOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before permissions are widened in a real account.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Synthesize every cluster, also those that have not changed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Deploy a rollout with the CDK CLI, read it back from AWS and print what is there.

    Mistakes in the rollout file are shown before anything is synthesized. Capacity is never bought here.
    """
    from ultracluster_cli.deploy.deployment import deploy_rollout  # noqa: PLC0415 - boto3 and pydantic; not for the help

    deploy_rollout(
        directory=Path.cwd(),
        rollout=rollout,
        local=local,
        wave=wave,
        unattended=yes,
        no_cache=no_cache,
        as_json=as_json,
    )
