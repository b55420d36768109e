"""`ultracluster advise`: what of a cluster is paid and not used, from its recorded metrics."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["advise", "app"]

app = typer.Typer(add_completion=False)


@app.command()
def advise(
    rollout: Annotated[Path, typer.Argument(metavar="ROLLOUT", help="The rollout file with the cluster.")],
    *,
    recording: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Read the metrics from this recording of a cluster."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Read the metrics of this cluster from CloudWatch.")
    ] = None,
    hours: Annotated[float, typer.Option(help="How far to look back.")] = 24,
    file_system: Annotated[
        str | None, typer.Option(metavar="fs-…", help="File system whose free space is looked at as well.")
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(
            "--node-hour", metavar="USD", help="What a node-hour costs you. Default: the list price."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/command-line.md).")] = False,
) -> None:
    """Say what could cost less: nodes, time, file system, settings; each with its evidence and its saving a month."""
    from ultracluster_cli.advising import AdviceInput, give_advice  # noqa: PLC0415 - pydantic; not for the help

    give_advice(
        AdviceInput(
            rollout=rollout,
            recording=recording,
            cluster=cluster,
            hours=hours,
            file_system_id=file_system,
            node_hour=price,
        ),
        as_json=as_json,
    )
