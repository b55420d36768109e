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
        float, typer.Option(min=0, max=_DAY, help="Minutes without a firing alarm before a cluster passes.")
    ] = 10,
    at_once: Annotated[
        int, typer.Option(min=1, max=20, help="Clusters of a wave to deploy in parallel.")
    ] = 4,
    patience: Annotated[float, typer.Option(min=0, max=_DAY, help="Minutes to wait for a gate's job.")] = 60,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the stopped rollout as planned.")] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Abandon the stopped rollout and plan a new one.")
    ] = False,
    rollback: Annotated[
        str | None,
        typer.Option(metavar="WAVE", help="Roll this wave back to its state before the last rollout."),
    ] = None,
    allow: AllowOption = None,
    skip: SkipOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Deploy a rollout wave by wave, with gates in between.

    A wave starts when all clusters of the previous wave have passed their gates. Deploys exactly what was planned. Exits
    with code 3 if the plan is stopped, and with 4 if a step fails; continue with --resume.
    """
    if sum([resume, restart, rollback is not None]) > 1:
        raise typer.BadParameter("specify only one of --resume, --restart and --rollback")
    if wave is not None and (resume or rollback is not None):
        raise typer.BadParameter("--wave cannot be combined with --resume or --rollback")
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
