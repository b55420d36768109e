"""`ultracluster rollout`: deploy a rollout wave by wave."""

from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.options import (
    AllowOption,
    JsonOption,
    LocalOption,
    OptionalRolloutArgument,
    SkipOption,
    WaveOption,
    YesOption,
)
from ultracluster_cli.rollout.run import RolloutRequest, roll_out

__all__ = ["app", "rollout"]

app = typer.Typer(add_completion=False)

_DAY = 24 * 60


@app.command()
def rollout(
    rollout: OptionalRolloutArgument = None,
    *,
    wave: WaveOption = None,
    local: LocalOption = False,
    bake: Annotated[
        float, typer.Option(min=0, max=_DAY, help="Minutes during which no alarm of a cluster may fire.")
    ] = 10,
    at_once: Annotated[
        int, typer.Option(min=1, max=20, help="Clusters of a wave to deploy at the same time.")
    ] = 4,
    patience: Annotated[float, typer.Option(min=0, max=_DAY, help="Minutes to wait for a gate's job.")] = 60,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the stopped rollout as planned.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Abandon the stopped rollout and plan a new one.")
    ] = False,
    rollback: Annotated[
        str | None,
        typer.Option(metavar="WAVE", help="Deploy what this wave had before its last rollout."),
    ] = None,
    allow: AllowOption = None,
    skip: SkipOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Deploy a rollout wave by wave, with gates in between.

    A wave begins when the gates of every cluster in the wave before have passed. Synthesizes and plans once, and deploys
    exactly that. Ends with exit code 3 if the plan stops it, and with 4 if a step fails; --resume then continues.
    """
    if sum([resume, restart, rollback is not None]) > 1:
        raise typer.BadParameter("give one of --resume, --restart and --rollback")
    if wave is not None and (resume or rollback is not None):
        raise typer.BadParameter(
            "--wave is for a new rollout; --resume knows its waves, and --rollback names one"
        )
    ended = roll_out(
        RolloutRequest(
            directory=Path.cwd(),
            rollout=rollout,
            wave=wave,
            local=local,
            bake_minutes=bake,
            at_once=at_once,
            patience_minutes=patience,
            resume=resume,
            restart=restart,
            rollback=rollback,
            allowed=tuple(allow or ()),
            skip=tuple(skip or ()),
            unattended=yes,
            as_json=as_json,
        )
    )
    raise typer.Exit(ended)
