"""`ultracluster advise`: what of a cluster is paid and not used, from its recorded metrics."""

from typing import Annotated

import typer

from ultracluster_cli.options import (
    FileSystemOption,
    JsonOption,
    LookBackOption,
    MetricsClusterOption,
    RecordingOption,
    RolloutArgument,
    RolloutProfileOption,
)

__all__ = ["advise", "app"]

app = typer.Typer(add_completion=False)


@app.command()
def advise(
    rollout: RolloutArgument,
    *,
    recording: RecordingOption = None,
    cluster: MetricsClusterOption = None,
    hours: LookBackOption = 24,
    file_system: FileSystemOption = None,
    price: Annotated[
        float | None,
        typer.Option(
            "--node-hour", metavar="USD", help="What a node-hour costs you. Default: the list price."
        ),
    ] = None,
    profile: RolloutProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what could cost less: nodes, time, file system, settings; each with its evidence and its saving a month."""
    from ultracluster_cli.metrics.advising import AdviceInput, give_advice  # noqa: PLC0415 - pydantic; not for the help

    give_advice(
        AdviceInput(
            rollout=rollout,
            recording=recording,
            cluster=cluster,
            hours=hours,
            file_system_id=file_system,
            node_hour=price,
            profile=profile,
        ),
        as_json=as_json,
    )
