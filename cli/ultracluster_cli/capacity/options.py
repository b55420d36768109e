"""Options shared by the commands of `ultracluster capacity`, and their interpretation."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_catalog.capacity.capacity_blocks import ULTRASERVER_REGIONS, block_regions
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_cli.options import LedgerOption, LedgerRegionOption, ProfileOption
from ultracluster_runtime.purchasing import order_checks
from ultracluster_runtime.purchasing.search import Search
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import INSTANCE_TYPE
from ultracluster_spec.names import REGION

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


BesidesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--besides", metavar="ORDER", help="Other order that overlaps this one and is wanted too; repeatable."
    ),
]

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
    besides: BesidesOption = None


@dataclass(frozen=True, kw_only=True)
class ExtensionApprovalOptions(ApprovalOptions):
    """Options of an approval that asks for what is missing, after a quote. Empty for what is missing."""

    cluster: Annotated[str, _CLUSTER] = ""
    max_fee: Annotated[str, _MAX_FEE] = ""
    month_cap: Annotated[str, _MONTH_CAP] = ""
    approver: Annotated[str, _APPROVER] = ""


def block_search(
    *,
    regions: tuple[str, ...],
    instance_type: str | None = None,
    ultraserver_type: str | None = None,
    counts: tuple[int, ...] = (),
    days: str,
    between: tuple[str, str],
) -> Search:
    """Return the search for Capacity Blocks that start in a future window."""
    now = datetime.now(UTC)
    hours = order_checks.parse_days("--days", days)
    start_after, start_before = (order_checks.parse_time("--between", text) for text in between)
    findings = [finding for region in regions for finding in REGION.check(region, path="--regions")]
    if instance_type is not None:
        findings += INSTANCE_TYPE.check(instance_type, path="--instance-type")
    if findings := [*findings, *order_checks.check_window("--between", start_after, start_before, now=now)]:
        raise FindingsError(findings)
    return Search(
        regions=regions,
        instance_type=instance_type,
        ultraserver_type=ultraserver_type,
        counts=counts,
        hours=hours,
        start_after=max(start_after, now),
        start_before=start_before,
        end_by=start_before + timedelta(hours=accepted_hours(hours)[1]),
    )


def read_size(
    *, instance_type: str | None, nodes: str | None, ultraservers: str | None, ultraserver_type: str
) -> tuple[str | None, str | None, tuple[int, ...]]:
    """Return the instance type or the UltraServer type of a block, and the counts to buy."""
    if nodes is not None and instance_type is not None and ultraservers is None:
        return instance_type, None, order_checks.parse_counts("--nodes", nodes)
    if ultraservers is not None and instance_type is None and nodes is None:
        return None, ultraserver_type, order_checks.parse_counts("--ultraservers", ultraservers)
    options = {"--instance-type": instance_type, "--nodes": nodes, "--ultraservers": ultraservers}
    specified = [option for option, value in options.items() if value is not None]
    problem = f"got {', '.join(specified) or 'no size'}"
    allowed = "--instance-type and --nodes, or --ultraservers"
    raise FindingsError([order_checks.ambiguous_size(problem, allowed=allowed)])


def read_regions(text: str, *, known: tuple[str, ...]) -> tuple[str, ...]:
    """Read comma-separated Regions, or ``all``, which stands for the known ones."""
    if text == "all":
        return known
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def accepted_hours(hours: tuple[int, ...]) -> tuple[int, int]:
    """Return the minimum and maximum duration to accept, in hours.

    Blocks end at a fixed time of day, so EC2 offers blocks up to a day shorter or longer than requested.
    """
    day = timedelta(days=1) // timedelta(hours=1)
    return max(1, min(hours) - day), max(hours) + day


def searched_regions(
    text: str, *, instance_type: str | None, ultraserver_type: str | None
) -> tuple[str, ...]:
    """Read Regions, where ``all`` stands for those known to sell the type."""
    if instance_type is not None:
        known = block_regions(instance_type)
    else:
        known = ULTRASERVER_REGIONS.get(str(ultraserver_type), ())
    return read_regions(text, known=known or REGIONS)
