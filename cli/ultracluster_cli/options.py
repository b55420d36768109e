"""The options that several commands share: what does the same has the same name and the same words everywhere."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "LEDGER_REGION_VARIABLE",
    "LEDGER_VARIABLE",
    "AllowOption",
    "ClusterOption",
    "ClustersOption",
    "FileSystemOption",
    "JsonOption",
    "LedgerOption",
    "LedgerRegionOption",
    "LookBackOption",
    "MetricsClusterOption",
    "OptionalRolloutArgument",
    "ProfileOption",
    "RecordingOption",
    "RolloutArgument",
    "RolloutProfileOption",
    "SkipOption",
    "WaveOption",
]

LEDGER_VARIABLE = "ULTRACLUSTER_LEDGER"
LEDGER_REGION_VARIABLE = "ULTRACLUSTER_LEDGER_REGION"

RolloutArgument = Annotated[Path, typer.Argument(metavar="ROLLOUT", help="The rollout file.")]
OptionalRolloutArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="ROLLOUT", help="The rollout file. Default: the context value `rollout` of cdk.json."
    ),
]
WaveOption = Annotated[str | None, typer.Option(help="Only the clusters of this wave. Default: all.")]
ClusterOption = Annotated[str | None, typer.Option(help="Only this cluster. Default: all.")]
ClustersOption = Annotated[
    list[str] | None, typer.Option(help="Only this cluster; may be repeated. Default: all.")
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help="Allow one thing that stops the plan, as `plan` writes it, such as "
        "replace:STACK/LOGICAL_ID; may be repeated.",
    ),
]
SkipOption = Annotated[
    list[str] | None,
    typer.Option(metavar="CODE", help="Leave out this check of preflight; may be repeated."),
]
ProfileOption = Annotated[
    str | None, typer.Option(help="Profile of the AWS configuration. Default: that of the shell.")
]
RolloutProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="Profile of the AWS configuration. Default: that of the cluster, else that of the shell.",
    ),
]
LedgerOption = Annotated[
    str | None, typer.Option(help="Table of the ledger.", envvar=LEDGER_VARIABLE, show_envvar=True)
]
LedgerRegionOption = Annotated[
    str | None,
    typer.Option(help="Region of the ledger.", envvar=LEDGER_REGION_VARIABLE, show_envvar=True),
]
RecordingOption = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Read the metrics from this recording of a cluster."),
]
MetricsClusterOption = Annotated[
    str | None, typer.Option("--cluster", help="Read the metrics of this cluster from CloudWatch.")
]
LookBackOption = Annotated[float, typer.Option("--hours", help="How far to look back in CloudWatch.")]
FileSystemOption = Annotated[
    str | None, typer.Option(metavar="fs-…", help="File system whose free space is looked at as well.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON (docs/command-line.md).")]
