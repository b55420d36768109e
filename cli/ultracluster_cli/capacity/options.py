"""Options shared by the commands of `ultracluster capacity`."""

from typing import Annotated

import typer

__all__ = [
    "DEFAULT_ULTRASERVER",
    "ApproverOption",
    "BetweenOption",
    "ClusterOption",
    "CurrencyOption",
    "DaysOption",
    "HoursOption",
    "MaxFeeOption",
    "MonthCapOption",
    "NodesOption",
    "OrderArgument",
    "PlatformOption",
    "PreferOption",
    "RegionsOption",
    "TypeOption",
    "UltraServerTypeOption",
    "UltraServersOption",
]

DEFAULT_ULTRASERVER = "u-trn2x64"

OrderArgument = Annotated[str, typer.Argument(metavar="ORDER", help="The order's name.")]
TypeOption = Annotated[
    str | None, typer.Option("--instance-type", help="Instance type, such as trn2.48xlarge.")
]
NodesOption = Annotated[str | None, typer.Option("--nodes", help="Nodes: 16, 8,16 or 1-4.")]
UltraServersOption = Annotated[
    str | None, typer.Option("--ultraservers", help="UltraServers instead of nodes: 1, 1,2 or 1-4.")
]
UltraServerTypeOption = Annotated[str, typer.Option("--ultraserver-type", help="Type of the UltraServers.")]
DaysOption = Annotated[
    str, typer.Option("--days", help="Duration in days: 14, or 7-14 for every duration sold.")
]
BetweenOption = Annotated[
    tuple[str, str], typer.Option("--between", help="Earliest and latest start: days or UTC times.")
]
PlatformOption = Annotated[str, typer.Option("--platform", help="Platform of the AMI.")]
PreferOption = Annotated[
    str,
    typer.Option("--prefer", help="Rank offers by total, chip-hour, core-hour, start or node-hours."),
]
RegionsOption = Annotated[str, typer.Option("--regions", help="all, or comma-separated Regions.")]
MaxFeeOption = Annotated[str, typer.Option("--max-fee", help="Highest fee to accept; required.")]
MonthCapOption = Annotated[
    str, typer.Option("--month-cap", help="Highest sum of fees in a calendar month (UTC).")
]
ApproverOption = Annotated[str, typer.Option("--approver", help="Name or address of the approver.")]
HoursOption = Annotated[
    int, typer.Option("--expires-in-hours", min=1, max=24 * 31, help="Validity of the approval in hours.")
]
ClusterOption = Annotated[str, typer.Option("--cluster", help="Cluster that the order is for.")]
CurrencyOption = Annotated[str, typer.Option("--currency", help="The only currency to accept.")]
