"""`ultracluster rollout`: the command line of it; the work is in `ultracluster_cli.rollout.run`."""

from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.options import AllowOption, JsonOption, OptionalRolloutArgument, SkipOption, WaveOption

__all__ = ["app", "rollout"]

app = typer.Typer(add_completion=False)

_STOPPED_EXIT_CODE = 3
_DAY = 24 * 60


@app.command()
def rollout(
    rollout: OptionalRolloutArgument = None,
    *,
    wave: WaveOption = None,
    local: Annotated[
        bool, typer.Option("--local", help="To a local AWS on this machine: no account, no cost.")
    ] = False,
    bake: Annotated[
        float, typer.Option(min=0, max=_DAY, help="Minutes for which no alarm of a cluster may be heard.")
    ] = 10,
    at_once: Annotated[int, typer.Option(min=1, max=20, help="Clusters of a wave at the same time.")] = 4,
    patience: Annotated[
        float, typer.Option(min=0, max=_DAY, help="Minutes to wait for the job of a gate.")
    ] = 60,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the rollout that has stopped, as it was planned.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Give up the rollout that has stopped, and plan anew.")
    ] = False,
    rollback: Annotated[
        str | None,
        typer.Option(metavar="WAVE", help="Deploy again what a wave had before the last rollout of it."),
    ] = None,
    allow: AllowOption = None,
    skip: SkipOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a real account is changed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Deploy wave after wave; the next begins when the gates of every cluster have passed.

    Synthesizes and plans once, and deploys exactly that. Ends with 3 if it stops, and --resume then goes on.
    """
    if sum([resume, restart, rollback is not None]) > 1:
        raise typer.BadParameter("give one of --resume, --restart and --rollback")
    if wave is not None and (resume or rollback is not None):
        raise typer.BadParameter(
            "--wave is for a new rollout; --resume knows its waves, and --rollback names one"
        )
    from ultracluster_cli.rollout.run import Wish, roll_out  # noqa: PLC0415 - boto3 and pydantic; not for the help

    finished = roll_out(
        Wish(
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
    if not finished:
        raise typer.Exit(_STOPPED_EXIT_CODE)
