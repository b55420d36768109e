"""`ultracluster dashboard`: the metrics of a cluster as one page, from CloudWatch or from a recording."""

from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.options import (
    FileSystemOption,
    LookBackOption,
    MetricsClusterOption,
    ProfileOption,
    RecordingOption,
)
from ultracluster_cli.output import say
from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["app", "dashboard"]

app = typer.Typer(add_completion=False)


@app.command()
def dashboard(
    *,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Draw the charts into this page.")
    ] = None,
    recording: RecordingOption = None,
    cluster: MetricsClusterOption = None,
    region: Annotated[
        str | None, typer.Option(help="Region of the cluster. Default: that of the profile or the shell.")
    ] = None,
    hours: LookBackOption = 24,
    file_system: FileSystemOption = None,
    profile: ProfileOption = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep what was read as a recording.")
    ] = None,
) -> None:
    """Draw the metrics of a cluster as one page that needs no network, or keep them as a recording."""
    from ultracluster_cli.metrics.metric_source import MetricSource, read_metrics  # noqa: PLC0415 - not for the help

    if page is None and save is None:
        problem = "neither --html nor --save was given, so there is nothing to do"
        raise FindingsError([Finding(code="UC9332", problem=problem)])
    recorded = read_metrics(
        MetricSource(
            recording=recording,
            cluster=cluster,
            region=region,
            hours=hours,
            file_system_id=file_system,
            profile=profile,
        )
    )
    if save is not None:
        from ultracluster_runtime.metrics.recorded_metrics import write_recording  # noqa: PLC0415 - as above

        write_recording(recorded, save)
        say(f"{save}: {len(recorded.series)} series")
    if page is not None:
        from ultracluster_cli.metrics.metrics_page import draw_page  # noqa: PLC0415 - as above

        draw_page(recorded, page)
        say(f"{page}: {recorded.cluster}, {len(recorded.series)} series")
