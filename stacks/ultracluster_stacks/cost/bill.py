"""The lines of a bill for a planned usage: each billable resource of a footprint with quantity and price."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Final, Literal

from ultracluster_catalog.lustre.lustre import (
    INTELLIGENT_TIERING,
    READ_CACHE_MODES,
    THROUGHPUT_CAPACITIES,
    LustreSettings,
)
from ultracluster_catalog.lustre.lustre_figures import automatic_metadata_iops
from ultracluster_catalog.prices.prices import BillableItem, PaidService, Price
from ultracluster_stacks.cost.footprint import Footprint, NodeSupply
from ultracluster_stacks.cost.money import NOTHING, Money

Prices = Callable[[BillableItem, str], Price]
"""Returns the price of a billable item in a Region."""

HOURS_OF_A_MONTH: Final = 730
"""Hours of a twelfth of a year, to convert between monthly and hourly prices."""

_INCLUDED_MB_PER_S: Final = 125  # throughput included in a gp3 volume; Amazon EBS User Guide, read 2026-10
_METRICS_OF_REQUESTS: Final = (
    16  # metrics per filter of S3 request metrics; Amazon S3 User Guide, read 2026-10
)
_MONTHS_OF_LOGS: Final = 3  # default retention of job log groups
_PROPORTIONAL_CACHE_GIB: Final = 20_000  # cache per step of throughput, see READ_CACHE_MODES


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Planned usage of a cluster. Lines that depend on a value that is None are reported as left out.

    Attributes:
        hours: Hours of one run, in which all nodes are billed.
        tokens_per_second: Training throughput of the whole cluster.
        savings_plan_rate: Price of a node-hour under a Savings Plan, billed whether used or not. Applies to on-demand
            nodes only.
        logs_gb: GB of logs ingested per month.
        nat_gb: GB through the NAT gateway per month.
        endpoint_gb: GB through the interface endpoints per month.
        transfer_gb: GB out to the internet per month.
        tiered_gb: GB on a file system with Intelligent-Tiering.
        custom_metrics: Custom metrics besides those of the footprint. Default: none.
        compile_hours: Hours of compilation before the first run. Default: 0.
        compile_reuse: Number of runs that share the compiled graphs and their cost. Default: 1.
    """

    hours: Decimal
    runs_per_month: int = 1
    tokens_per_second: Decimal | None = None
    savings_plan_rate: Price | None = None
    stored_gb: Decimal | None = None
    logs_gb: Decimal | None = None
    nat_gb: Decimal | None = None
    endpoint_gb: Decimal | None = None
    transfer_gb: Decimal | None = None
    backup_gb: Decimal | None = None
    tiered_gb: Decimal | None = None
    custom_metrics: int = 0
    compile_hours: Decimal = Decimal(0)
    compile_reuse: int = 1

    @property
    def node_hours_of_a_month(self) -> Decimal:
        """Hours per month in which the nodes are billed."""
        return min(self.hours * self.runs_per_month, Decimal(HOURS_OF_A_MONTH))


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a bill.

    Attributes:
        name: Name, unique in an estimate.
        quantity: Number of units of the price; GB are per month. None if it depends on an unknown usage.
        charged: When it is billed: in the hours of a run, always, or once before the first run.
    """

    name: str
    what: str
    quantity: Decimal | None
    price: Price
    charged: Literal["run", "always", "once"]

    def _amount(self) -> Money:
        bounds = self.price.bounds
        if bounds is None or self.quantity is None:
            return replace(NOTHING, without=(self.name,))
        return Money(
            low=bounds[0] * self.quantity,
            high=bounds[1] * self.quantity,
            approximate=bool(self.price.borrowed_from and self.quantity),
        )

    @property
    def hour(self) -> Money:
        """Cost per hour of a run; nothing for a line that is billed once."""
        if self.charged == "once":
            return NOTHING
        is_hourly = self.price.unit in {"hour", "instance-hour"}
        return self._amount() * (Decimal(1) if is_hourly else 1 / Decimal(HOURS_OF_A_MONTH))

    def run(self, usage: Usage) -> Money:
        """Return the cost per run, including a share of a line that is billed once."""
        if self.charged == "once":
            return self._amount() * (1 / Decimal(usage.compile_reuse))
        return self.hour * usage.hours

    def month(self, usage: Usage) -> Money:
        """Return the cost per month."""
        match self.charged:
            case "once":
                return self.run(usage) * usage.runs_per_month
            case "always":
                return self.hour * HOURS_OF_A_MONTH
            case "run":
                return self.hour * usage.node_hours_of_a_month


def bill(footprint: Footprint, usage: Usage, prices: Prices) -> Iterator[Line]:
    """Yield every line of a bill, nodes first."""
    for supply in footprint.paid_supplies():
        yield _nodes(supply, footprint.region, usage, prices)
    yield from _volumes(footprint, prices)
    for settings in footprint.file_systems:
        yield from _file_system(settings, footprint.region, usage, prices)
    yield from _services(footprint, usage, prices)
    if usage.compile_hours:
        yield _compile(footprint, usage, prices)


def additional_nodes(footprint: Footprint, prices: Prices) -> Iterator[Line]:
    """Yield lines of nodes that are used, and billed, only when the others are full."""
    paid = footprint.paid_supplies()
    for supply in footprint.supplies:
        if supply not in paid:
            yield _nodes(supply, footprint.region, None, prices)


def _nodes(supply: NodeSupply, region: str, usage: Usage | None, prices: Prices) -> Line:
    purchase = {"capacity-block": "in a Capacity Block", "on-demand": "On-Demand", "spot": "Spot"}[
        supply.market
    ]
    if supply.reserved and supply.market == "on-demand":
        purchase += ", reserved: billed while the reservation is active"
    price = prices(BillableItem(kind=supply.market, name=supply.instance_type), region)
    plan = usage.savings_plan_rate if usage and supply.market == "on-demand" else None
    return Line(
        name=f"nodes of {supply.name}" if supply.name else "nodes",
        what=f"{supply.nodes} x {supply.instance_type} {'under a Savings Plan' if plan else purchase}",
        quantity=Decimal(supply.nodes),
        price=plan or price,
        charged="always" if plan else "run",
    )


def _volumes(footprint: Footprint, prices: Prices) -> Iterator[Line]:
    supplies = footprint.paid_supplies()
    size = sum(supply.nodes * supply.volume_gib for supply in supplies)
    more = sum(supply.nodes * max(0, supply.volume_mb_per_s - _INCLUDED_MB_PER_S) for supply in supplies)
    rows: tuple[tuple[str, str, int, PaidService], ...] = (
        ("volumes", "root volumes of the nodes", size, "volume gp3"),
        ("volume throughput", "beyond 125 MB/s per volume", more, "volume gp3 throughput"),
    )
    for name, what, quantity, service in rows:
        if quantity:
            line = _service(name, what, quantity, service, region=footprint.region, prices=prices)
            yield replace(line, charged="run")


def _service(
    name: str, what: str, quantity: Decimal | int | None, service: PaidService, *, region: str, prices: Prices
) -> Line:
    price = prices(BillableItem(kind="service", name=service), region)
    amount = None if quantity is None else Decimal(quantity)
    return Line(name=name, what=what, quantity=amount, price=price, charged="always")


def _file_system(settings: LustreSettings, region: str, usage: Usage, prices: Prices) -> Iterator[Line]:
    service = partial(_service, region=region, prices=prices)
    if settings.storage_type == INTELLIGENT_TIERING:
        throughput = settings.throughput_capacity or 0
        included = 0
        what = f"{throughput:,} MB/s, Intelligent-Tiering"
        yield service("file system", what, throughput, "FSx Intelligent-Tiering throughput")
        cache = _read_cache_gib(settings)
        if cache:
            yield service("read cache", f"{cache:,} GiB of SSD", cache, "FSx read cache")
        yield service("file system data", "stored data", usage.tiered_gb, "FSx Intelligent-Tiering data")
    else:
        capacity = settings.storage_capacity_gib or 0
        tier = settings.per_unit_storage_throughput
        included = automatic_metadata_iops(capacity)
        price = prices(BillableItem(kind="lustre", name=settings.deployment_type, tier=tier), region)
        speed = "" if tier is None else f", {tier} MB/s per TiB"
        what = f"{capacity:,} GiB {settings.deployment_type} {settings.storage_type}{speed}"
        yield Line(name="file system", what=what, quantity=Decimal(capacity), price=price, charged="always")
    more = (settings.metadata_iops or 0) - included
    if more > 0:
        yield service("metadata IOPS", f"beyond the {included:,} included", more, "FSx metadata IOPS")
    if settings.backup_retention_days:
        what = f"daily backups, retained for {settings.backup_retention_days} days"
        yield service("backups", what, usage.backup_gb, "FSx backups")


def _read_cache_gib(settings: LustreSettings) -> int:
    no_cache, provisioned, _ = READ_CACHE_MODES
    if settings.read_cache in {no_cache, None}:
        return 0
    if settings.read_cache == provisioned:
        return settings.read_cache_gib or 0
    return (settings.throughput_capacity or 0) // THROUGHPUT_CAPACITIES.step * _PROPORTIONAL_CACHE_GIB


def _services(footprint: Footprint, usage: Usage, prices: Prices) -> Iterator[Line]:
    metrics = (
        usage.custom_metrics + footprint.custom_metrics + footprint.request_metrics * _METRICS_OF_REQUESTS
    )
    stored_logs = None if usage.logs_gb is None else usage.logs_gb * _MONTHS_OF_LOGS
    endpoints, gateways, transfer = footprint.interface_endpoints, footprint.nat_gateways, usage.transfer_gb
    composites = footprint.composite_alarms
    rows: tuple[tuple[bool, str, str, Decimal | int | None, PaidService], ...] = (
        (footprint.buckets > 0, "buckets", "S3 Standard", usage.stored_gb, "S3 Standard storage"),
        (endpoints > 0, "endpoints", "interface endpoints in one zone", endpoints, "interface endpoint"),
        (endpoints > 0, "endpoint data", "processed per month", usage.endpoint_gb, "interface endpoint data"),
        (gateways > 0, "NAT gateway", "with one public IPv4 address", gateways, "NAT gateway"),
        (gateways > 0, "public address", "of the NAT gateway", gateways, "public IPv4 address"),
        (gateways > 0, "NAT data", "processed per month", usage.nat_gb, "NAT gateway data"),
        (footprint.alarms > 0, "alarms", "alarm metrics", footprint.alarms, "alarm"),
        (composites > 0, "composite alarms", "over other alarms", composites, "composite alarm"),
        (footprint.dashboards > 0, "dashboards", "CloudWatch dashboards", footprint.dashboards, "dashboard"),
        (
            metrics > 0,
            "metrics",
            "custom metrics, including all S3 request metrics",
            metrics,
            "custom metric",
        ),
        (True, "logs", "ingested per month", usage.logs_gb, "logs ingested"),
        (usage.logs_gb is not None, "logs kept", "three months, uncompressed", stored_logs, "logs stored"),
        (transfer is not None, "data transfer", "to the internet per month", transfer, "data transfer out"),
    )
    for applies, name, what, quantity, service in rows:
        if applies:
            yield _service(name, what, quantity, service, region=footprint.region, prices=prices)


def _compile(footprint: Footprint, usage: Usage, prices: Prices) -> Line:
    runs = f"shared by {usage.compile_reuse} runs" if usage.compile_reuse > 1 else "for one run"
    if footprint.compile_type is not None:
        where, nodes = f"one On-Demand {footprint.compile_type}", 1
        price = prices(BillableItem(kind="on-demand", name=footprint.compile_type), footprint.region)
    else:
        where, nodes = "all nodes", footprint.supplies[0].nodes
        price = _nodes(footprint.supplies[0], footprint.region, usage, prices).price
    return Line(
        name="compile",
        what=f"{usage.compile_hours} h on {where}, {runs}",
        quantity=usage.compile_hours * nodes,
        price=price,
        charged="once",
    )
