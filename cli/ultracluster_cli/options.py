"""Options shared by several commands, so that the same option has the same name and help everywhere."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "LEDGER_REGION_VARIABLE",
    "LEDGER_VARIABLE",
    "AllowOption",
    "ClusterOption",
    "ClustersOption",
    "FallbackRegionOption",
    "FileSystemOption",
    "JsonOption",
    "LedgerOption",
    "LedgerRegionOption",
    "LocalOption",
    "LookBackOption",
    "MetricsClusterOption",
    "OptionalRolloutArgument",
    "ProfileOption",
    "RecordingOption",
    "RolloutArgument",
    "RolloutProfileOption",
    "SkipOption",
    "WaveOption",
    "WriteOption",
    "YesOption",
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
        help="Allow one change that stops the plan, as `plan` names it, such as "
        "replace:STACK/LOGICAL_ID; may be repeated.",
    ),
]
SkipOption = Annotated[
    list[str] | None,
    typer.Option(metavar="CODE", help="Skip this preflight check; may be repeated."),
]
ProfileOption = Annotated[str | None, typer.Option(help="AWS profile. Default: that of the shell.")]
RolloutProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="AWS profile. Default: that of the cluster, else that of the shell.",
    ),
]
LedgerOption = Annotated[
    str | None, typer.Option(help="DynamoDB table of the ledger.", envvar=LEDGER_VARIABLE, show_envvar=True)
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
LookBackOption = Annotated[float, typer.Option("--hours", help="Hours to look back in CloudWatch.")]
FileSystemOption = Annotated[
    str | None, typer.Option(metavar="fs-…", help="File system whose free space to include.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON (docs/command-line.md).")]
FallbackRegionOption = Annotated[
    str | None,
    typer.Option(metavar="REGION", help="Use the price of this Region where the cluster's own is unknown."),
]
LocalOption = Annotated[
    bool, typer.Option("--local", help="Use a local AWS on this machine: no account, no cost.")
]
WriteOption = Annotated[
    bool, typer.Option("--write", help="Write the result into the rollout. Default: only show it.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before a real account is changed.")]
