"""`ultracluster demo`: the command line of it; the work is in `ultracluster_cli.demonstration`."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app", "demo"]

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    rollout: Annotated[
        Path | None,
        typer.Argument(
            metavar="ROLLOUT", help="The rollout file. Default: the context value `rollout` of cdk.json."
        ),
    ] = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON (docs/command-line.md).")
    ] = False,
) -> None:
    """Buy the rollout's Capacity Blocks on a local AWS, with fake money, and deploy the rollout on what was bought.

    Needs no account and reaches nothing outside this machine. Started again on the same `ultracluster local up`, it
    buys and changes nothing.
    """
    from ultracluster_cli.demonstration import demonstrate  # noqa: PLC0415 - boto3 and pydantic; not for the help

    demonstrate(directory=Path.cwd(), rollout=rollout, as_json=as_json)
