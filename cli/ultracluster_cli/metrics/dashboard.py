"""`ultracluster dashboard`: draw or save the metrics of a cluster."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Final

import typer

from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_cli import options
from ultracluster_cli._aws.selection import locate, project_clusters
from ultracluster_cli.metrics.metric_source import read_metrics
from ultracluster_cli.metrics.metrics_page import draw_page
from ultracluster_cli.output import echo
from ultracluster_runtime.metrics.recording_file import write_recording
from ultracluster_spec.findings import FindingsError

_SAMPLE: Final = Path(__file__).with_name("sample.json")
_NOTE: Final = "A sample, not a measurement: a seeded simulation of a day on 16 trn2.48xlarge, with one lost node and an extension."


def dashboard(
    *,
    picture: options.PictureOption = None,
    recording: options.RecordingOption = None,
    cluster: options.MetricsClusterOption = None,
    region: Annotated[
        str | None,
        typer.Option(
            help="Region of the cluster. Default: Region of the project, the profile or the environment."
        ),
    ] = None,
    hours: options.LookBackOption = 24,
    file_system: options.FileSystemOption = None,
    profile: options.ProfileOption = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw the sample of this package, which is a seeded simulation.")
    ] = False,
    price: options.NodeHourOption = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the metrics to this recording.")
    ] = None,
) -> None:
    """Chart the metrics of a cluster on an HTML page, or save them as a recording.

    The page is a self-contained file.
    """
    note, node_hour = "", None if price is None else Decimal(str(price))
    if sample and recording is None and cluster is None:
        recording, picture = _SAMPLE, picture or Path("dashboard.html")
        note, node_hour = _NOTE, node_hour or capacity_block_price("trn2.48xlarge", "us-east-2").amount
    elif sample:
        raise FindingsError.message("got two sources", allowed="one of --sample, --from and --cluster")
    if recording is None and (cluster is not None or project_clusters()):
        cluster, region = locate(cluster, region)
    if picture is None and save is None:
        raise FindingsError.message("got neither --picture nor --save", allowed="one or both of them")
    recorded = read_metrics(
        recording=recording,
        cluster=cluster,
        region=region,
        hours=hours,
        file_system_id=file_system,
        profile=profile,
    )
    if save is not None:
        write_recording(recorded, save)
        echo(f"{save}: {len(recorded.series)} series")
    if picture is not None:
        draw_page(recorded, picture, node_hour=node_hour, note=note)
        echo(f"{picture}: {recorded.cluster}, {len(recorded.series)} series")
