"""The lines of a bill: each billable resource of a footprint with quantity and price."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Final

from ultracluster_catalog.lustre.lustre import (
    INTELLIGENT_TIERING,
    READ_CACHE_MODES,
    THROUGHPUT_CAPACITIES,
    LustreSettings,
)
from ultracluster_catalog.lustre.lustre_figures import automatic_metadata_iops
from ultracluster_catalog.prices.prices import BillableItem, PaidService, Price
from ultracluster_stacks.cost.footprint import Footprint, NodeSupply
from ultracluster_stacks.cost.line import Line, Usage

Prices = Callable[[BillableItem, str], Price]
"""Returns the price of a billable item in a Region."""

_INCLUDED_MB_PER_S: Final = 125  # throughput included in a gp3 volume; Amazon EBS User Guide, read 2026-10
_METRICS_OF_REQUESTS: Final = (
    16  # metrics per filter of S3 request metrics; Amazon S3 User Guide, read 2026-10
)
_MONTHS_OF_LOGS: Final = 3  # default retention of job log groups
_PROPORTIONAL_CACHE_GIB: Final = 20_000  # cache per step of throughput, see READ_CACHE_MODES


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
            price = prices(BillableItem(kind="service", name=service), footprint.region)
            yield Line(name=name, what=what, quantity=Decimal(quantity), price=price, charged="run")


def _file_system(settings: LustreSettings, region: str, usage: Usage, prices: Prices) -> Iterator[Line]:
    def service(name: str, what: str, quantity: Decimal | int | None, paid: PaidService) -> Line:
        price = prices(BillableItem(kind="service", name=paid), region)
        amount = None if quantity is None else Decimal(quantity)
        return Line(name=name, what=what, quantity=amount, price=price, charged="always")

    if settings.storage_type == INTELLIGENT_TIERING:
        throughput = settings.throughput_capacity or 0
        included = 0
        yield service(
            "file system",
            f"{throughput:,} MB/s, Intelligent-Tiering",
            throughput,
            "FSx Intelligent-Tiering throughput",
        )
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
            yield Line(
                name=name,
                what=what,
                quantity=None if quantity is None else Decimal(quantity),
                price=prices(BillableItem(kind="service", name=service), footprint.region),
                charged="always",
            )


def _compile(footprint: Footprint, usage: Usage, prices: Prices) -> Line:
    runs = f"shared by {usage.compile_reuse} runs" if usage.compile_reuse > 1 else "for one run"
    if footprint.compile_type is not None:
        return Line(
            name="compile",
            what=f"{usage.compile_hours} h on one On-Demand {footprint.compile_type}, {runs}",
            quantity=usage.compile_hours,
            price=prices(BillableItem(kind="on-demand", name=footprint.compile_type), footprint.region),
            charged="once",
        )
    nodes = _nodes(footprint.supplies[0], footprint.region, usage, prices)
    return Line(
        name="compile",
        what=f"{usage.compile_hours} h on all nodes, {runs}",
        quantity=usage.compile_hours * footprint.supplies[0].nodes,
        price=nodes.price,
        charged="once",
    )
