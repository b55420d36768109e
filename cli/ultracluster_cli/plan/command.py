"""`ultracluster plan`: the command line of it; the work is in `ultracluster_cli.plan.planning`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ultracluster_cli.options import AllowOption, JsonOption, OptionalRolloutArgument, WaveOption

__all__ = ["app", "plan"]

app = typer.Typer(add_completion=False)


@app.command()
def plan(
    rollout: OptionalRolloutArgument = None,
    *,
    against: Annotated[
        str,
        typer.Option(
            metavar="DIR|deployed", help="What to compare with: a saved cloud assembly, or what is deployed."
        ),
    ] = "deployed",
    local: Annotated[
        bool, typer.Option("--local", help="What is deployed in the local AWS of `ultracluster local up`.")
    ] = False,
    wave: WaveOption = None,
    allow: AllowOption = None,
    as_json: JsonOption = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")
    ] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw the clusters into this SVG file as well.")] = None,
) -> None:
    """Say what deploying a rollout would add, change, replace, keep and remove; changes nothing.

    Ends with 3 if that would lose data, end running jobs, cut off the network or fail, until each such thing is allowed.
    """
    if as_json and as_markdown:
        raise typer.BadParameter("give --json or --markdown, not both")
    from ultracluster_cli.plan.planning import plan_rollout  # noqa: PLC0415 - boto3 and pydantic; not for the help

    form: Literal["text", "json", "markdown"] = "json" if as_json else "markdown" if as_markdown else "text"
    stopped = plan_rollout(
        directory=Path.cwd(),
        rollout=rollout,
        against=None if against == "deployed" else Path(against),
        local=local,
        wave=wave,
        allowed=allow or [],
        form=form,
        picture=svg,
    )
    if stopped:
        raise typer.Exit(_STOPPED_EXIT_CODE)


_STOPPED_EXIT_CODE = 3
