"""The options that several commands of `ultracluster capacity` share."""

from typing import Annotated

import typer

__all__ = [
    "DEFAULT_ULTRASERVER",
    "LEDGER_REGION_VARIABLE",
    "LEDGER_VARIABLE",
    "ApproverOption",
    "BetweenOption",
    "ClusterOption",
    "CurrencyOption",
    "DaysOption",
    "HoursOption",
    "JsonOption",
    "LedgerOption",
    "LedgerRegionOption",
    "MaxFeeOption",
    "MonthCapOption",
    "NodesOption",
    "OrderArgument",
    "ProfileOption",
    "RegionsOption",
    "TypeOption",
    "UltraServerTypeOption",
    "UltraServersOption",
]

LEDGER_VARIABLE = "ULTRACLUSTER_LEDGER"
LEDGER_REGION_VARIABLE = "ULTRACLUSTER_LEDGER_REGION"
DEFAULT_ULTRASERVER = "u-trn2x64"

OrderArgument = Annotated[str, typer.Argument(metavar="ORDER", help="The order's name.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ProfileOption = Annotated[str | None, typer.Option(help="Profile of the shared AWS configuration.")]
LedgerOption = Annotated[
    str | None, typer.Option(help="Table of the ledger.", envvar=LEDGER_VARIABLE, show_envvar=True)
]
LedgerRegionOption = Annotated[
    str | None,
    typer.Option(help="Region of the ledger.", envvar=LEDGER_REGION_VARIABLE, show_envvar=True),
]
TypeOption = Annotated[str | None, typer.Option("--instance-type", help="Such as trn2.48xlarge.")]
NodesOption = Annotated[str | None, typer.Option("--nodes", help="Instances: 16, 8,16 or 1-4.")]
UltraServersOption = Annotated[
    str | None, typer.Option("--ultraservers", help="UltraServers instead of instances.")
]
UltraServerTypeOption = Annotated[str, typer.Option("--ultraserver-type", help="Type of the UltraServers.")]
DaysOption = Annotated[
    str, typer.Option("--days", help="Duration in days: 14, or 7-14 for every duration sold.")
]
BetweenOption = Annotated[
    tuple[str, str], typer.Option("--between", help="Earliest and latest start: days or UTC times.")
]
RegionsOption = Annotated[str, typer.Option("--regions", help="all, or Regions with commas.")]
MaxFeeOption = Annotated[
    str, typer.Option("--max-fee", help="The highest fee to accept. There is no default.")
]
MonthCapOption = Annotated[
    str, typer.Option("--month-cap", help="The highest sum of fees in a calendar month (UTC).")
]
ApproverOption = Annotated[str, typer.Option("--approver", help="Who approves: a name or an address.")]
HoursOption = Annotated[
    int, typer.Option("--expires-in-hours", min=1, max=24 * 31, help="How long the approval holds.")
]
ClusterOption = Annotated[str, typer.Option("--cluster", help="The cluster that it is for.")]
CurrencyOption = Annotated[str, typer.Option("--currency", help="The only currency to accept.")]
