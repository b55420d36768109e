"""`ultracluster demo`: the command line of it; the work is in `ultracluster_cli.local.demonstration`."""

from pathlib import Path

import typer

from ultracluster_cli.options import JsonOption, OptionalRolloutArgument

__all__ = ["app", "demo"]

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    rollout: OptionalRolloutArgument = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Buy the rollout's Capacity Blocks on a local AWS, with fake money, and deploy the rollout on what was bought.

    Needs no account and reaches nothing outside this machine. Started again on the same `ultracluster local up`, it
    buys and changes nothing.
    """
    from ultracluster_cli.local.demonstration import demonstrate  # noqa: PLC0415 - boto3 and pydantic; not for the help

    demonstrate(directory=Path.cwd(), rollout=rollout, as_json=as_json)
