"""Options shared by the commands of `ultracluster capacity`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.options import LedgerOption, LedgerRegionOption, ProfileOption

DEFAULT_ULTRASERVER = "u-trn2x64"

OrderArgument = Annotated[str, typer.Argument(metavar="ORDER", help="Name of the order.")]
TypeOption = Annotated[
    str | None, typer.Option("--instance-type", help="Instance type, such as trn2.48xlarge.")
]
NodesOption = Annotated[str | None, typer.Option("--nodes", help="Number of nodes, such as 16, 8,16 or 1-4.")]
UltraServersOption = Annotated[
    str | None,
    typer.Option("--ultraservers", help="Number of UltraServers, instead of nodes, such as 1, 1,2 or 1-4."),
]
UltraServerTypeOption = Annotated[str, typer.Option("--ultraserver-type", help="UltraServer type.")]
DaysOption = Annotated[
    str, typer.Option("--days", help="Duration in days, such as 14, or 7-14 for every duration on sale.")
]
BetweenOption = Annotated[
    tuple[str, str], typer.Option("--between", help="Earliest and latest start, as days or UTC times.")
]
PlatformOption = Annotated[str, typer.Option("--platform", help="Platform of the AMI.")]
PreferOption = Annotated[
    str, typer.Option("--prefer", help="Rank offerings by total, chip-hour, core-hour, start or node-hours.")
]
RegionsOption = Annotated[str, typer.Option("--regions", help="Comma-separated Regions, or all.")]
_MAX_FEE = typer.Option("--max-fee", help="Maximum fee.")
MaxFeeOption = Annotated[str, _MAX_FEE]

RehearsedRolloutOption = Annotated[
    Path | None,
    typer.Option(
        "--rollout", metavar="FILE", help="Rollout file to compare the last rehearsal of the cluster with."
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerOptions:
    """Options of the commands that use the ledger."""

    profile: ProfileOption = None
    ledger: LedgerOption = None
    ledger_region: LedgerRegionOption = None


_CLUSTER = typer.Option("--cluster", help="Cluster to buy for.")
_MONTH_CAP = typer.Option("--month-cap", help="Maximum total of fees in a calendar month (UTC).")
_APPROVER = typer.Option("--approver", help="Name or email address of the approver.")


@dataclass(frozen=True, kw_only=True)
class ApprovalOptions:
    """Options of the commands that approve an order."""

    cluster: Annotated[str, _CLUSTER]
    max_fee: MaxFeeOption
    month_cap: Annotated[str, _MONTH_CAP]
    currency: Annotated[str, typer.Option("--currency", help="Currency to accept.")] = "USD"
    approver: Annotated[str, _APPROVER]
    expires_in_hours: Annotated[
        int, typer.Option("--expires-in-hours", min=1, max=24 * 31, help="Validity of the approval in hours.")
    ] = 24
    rollout: RehearsedRolloutOption = None


@dataclass(frozen=True, kw_only=True)
class ExtensionApprovalOptions(ApprovalOptions):
    """Options of an approval that asks for what is missing, after a quote. Empty for what is missing."""

    cluster: Annotated[str, _CLUSTER] = ""
    max_fee: Annotated[str, _MAX_FEE] = ""
    month_cap: Annotated[str, _MONTH_CAP] = ""
    approver: Annotated[str, _APPROVER] = ""
