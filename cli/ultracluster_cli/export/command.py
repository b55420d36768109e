"""`ultracluster export`: the command line of it; the work is in `ultracluster_cli.export.run`."""

from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.options import JsonOption, OptionalRolloutArgument, WaveOption

__all__ = ["app", "export"]

app = typer.Typer(add_completion=False)


@app.command()
def export(
    rollout: OptionalRolloutArgument = None,
    *,
    output: Annotated[Path, typer.Option(help="Folder to write, new or empty.")],
    bucket: Annotated[
        str | None,
        typer.Option(help="Default of the parameter AssetBucket: where the files of OUTPUT/assets will be."),
    ] = None,
    wave: WaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write plain CloudFormation templates with parameters, for who deploys without the CDK; needs no account."""
    from ultracluster_cli.export.run import export_rollout  # noqa: PLC0415 - pydantic; not for the help

    export_rollout(
        directory=Path.cwd(), rollout=rollout, output=output, bucket=bucket, wave=wave, as_json=as_json
    )
