"""Servers, throughput and price of a Lustre file system.

Figures: FSx for Lustre User Guide (IP addresses for file systems, performance, EFA; read October 2026).
"""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Final

from ultracluster_catalog.lustre.lustre import (
    INTELLIGENT_TIERING,
    METADATA_IOPS,
    THROUGHPUT_CAPACITIES,
    LustreSettings,
)
from ultracluster_catalog.lustre.lustre_tiers import get_lustre_tier
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import MACHINES
from ultracluster_catalog.prices.prices import Price, lustre_storage_price

CLIENT_GBPS_PER_OBJECT_SERVER: Final = 5
"""Gbit/s between one client and one object server without EFA."""

CLIENT_GBPS: Final = 100
"""Gbit/s between one client and the whole file system without EFA."""

CLIENT_GBPS_OVER_EFA: Final = 700
"""Gbit/s between one client and the whole file system over EFA. GPUDirect Storage, which is for GPUs, gives 1,200."""

EFA_CONNECTIONS_PER_FILE_SYSTEM: Final = 1024
"""Maximum number of EFA interfaces of all clients of a file system."""

_METADATA_IOPS_PER_SERVER: Final = 12_000
_EFA_MINIMUM_NITRO: Final = 4
_MB_PER_S_OF_A_GBPS: Final = 125


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreFigures:
    """Expected performance and cost of a file system.

    Attributes:
        object_servers: Number of object storage servers.
        addresses: Number of addresses in the subnet.
        baseline_mb_per_s: Baseline throughput of the file system in MB/s, for reads without cache hits.
        write_mb_per_s: The same for writes, such as checkpoints.
        node_gbps: Maximum throughput of one node while the others are idle, in Gbit/s.
        node_mb_per_s: Maximum throughput of each node when all nodes read, in MB/s.
        usd_per_month: List price of the storage per month in USD. None if it is not known.
        price: Unit price with source and date, or the reason why it is not known.
        not_priced: Billed items that `usd_per_month` does not include.
    """

    object_servers: int
    addresses: int
    baseline_mb_per_s: float
    write_mb_per_s: float
    node_gbps: float
    node_mb_per_s: float
    usd_per_month: Decimal | None
    price: Price
    not_priced: tuple[str, ...]


def file_system_figures(
    settings: LustreSettings, *, instance_type: InstanceType, nodes: int, region: str
) -> LustreFigures:
    """Return the expected performance and cost of a file system, read or written by some nodes at the same time.

    The figures are limits of AWS's documentation, not measurements.

    Raises:
        ValueError: If FSx for Lustre has no such tier.
    """
    servers = object_servers(settings)
    baseline = throughput_mb_per_s(settings)
    if settings.efa_enabled and can_mount_over_efa(instance_type):
        node_gbps = min(CLIENT_GBPS_OVER_EFA, instance_type.network_gbps)
    else:
        # TCP uses the primary interface, which is on card 0.
        node_gbps = client_throughput_gbps(
            object_servers=servers, network_gbps=instance_type.network_cards[0].gbps
        )
    price = _price(settings, region)
    amount = price.amount
    capacity = settings.storage_capacity_gib or 0
    return LustreFigures(
        object_servers=servers,
        addresses=file_system_interfaces(settings),
        baseline_mb_per_s=baseline,
        write_mb_per_s=throughput_mb_per_s(settings, writing=True),
        node_gbps=node_gbps,
        node_mb_per_s=min(node_gbps * _MB_PER_S_OF_A_GBPS, baseline / nodes),
        usd_per_month=None if amount is None else amount * capacity,
        price=price,
        not_priced=tuple(_not_priced(settings)),
    )


def _price(settings: LustreSettings, region: str) -> Price:
    kind = INTELLIGENT_TIERING if settings.storage_type == INTELLIGENT_TIERING else settings.deployment_type
    return lustre_storage_price(kind, settings.per_unit_storage_throughput, region)


def _not_priced(settings: LustreSettings) -> list[str]:
    if settings.storage_type == INTELLIGENT_TIERING:
        paid = ["throughput capacity", "stored data", "requests"]
        if settings.read_cache != "NO_CACHE":
            paid.append("SSD read cache")
    else:
        paid = []
        included = automatic_metadata_iops(settings.storage_capacity_gib or 0)
        more = (settings.metadata_iops or 0) - included
        if more > 0:
            paid.append(f"{more} metadata IOPS beyond the {included} of the size")
    if settings.backup_retention_days > 0:
        paid.append("backups")
    return paid


def object_servers(settings: LustreSettings) -> int:
    """Return the number of object servers of a file system; ValueError if there is no such tier.

    An EFA-enabled file system on SSD has fewer and larger servers, which makes it slower for clients without EFA.
    """
    if settings.storage_type == INTELLIGENT_TIERING:
        return ceil((settings.throughput_capacity or 0) / THROUGHPUT_CAPACITIES.step)
    tier = get_lustre_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    behind_one = tier.efa_capacity_step_gib if settings.efa_enabled else None
    return ceil((settings.storage_capacity_gib or 0) / (behind_one or tier.gib_per_object_server))


def automatic_metadata_iops(storage_capacity_gib: int) -> int:
    """Return the metadata IOPS that FSx provisions automatically on PERSISTENT_2 with SSD storage."""
    for below, iops in ((2400, 1500), (4800, 3000), (12_000, 6000), (48_000, 12_000)):
        if storage_capacity_gib < below:
            return iops
    return min(storage_capacity_gib // 24_000 * 12_000, METADATA_IOPS[-1])


def file_system_interfaces(settings: LustreSettings) -> int:
    """Return the number of addresses of a file system in its subnet: one per object and metadata server."""
    servers = object_servers(settings)
    if settings.deployment_type != "PERSISTENT_2":
        return servers + 1
    iops = settings.metadata_iops or automatic_metadata_iops(settings.storage_capacity_gib or 0)
    return servers + ceil(iops / _METADATA_IOPS_PER_SERVER)


def throughput_mb_per_s(settings: LustreSettings, *, writing: bool = False) -> float:
    """Return the baseline disk throughput of a file system in MB/s, for reads or writes, half as much on SCRATCH_2.

    FSx counts 1,000 GiB as one TiB here: its example has 120 MB/s for 2,400 GiB at 50 MB/s per TiB.
    """
    if settings.storage_type == INTELLIGENT_TIERING:
        return settings.throughput_capacity or 0
    tier = get_lustre_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    of_a_tib = (tier.write_mb_per_s_per_tib if writing else None) or tier.mb_per_s_per_tib
    return (settings.storage_capacity_gib or 0) * of_a_tib / 1000


def client_throughput_gbps(*, object_servers: int, network_gbps: float = CLIENT_GBPS) -> float:
    """Return the maximum throughput of one client without EFA, in Gbit/s.

    On a small file system, this limits a trn2 node rather than the throughput tier.
    """
    return min(object_servers * CLIENT_GBPS_PER_OBJECT_SERVER, CLIENT_GBPS, network_gbps)


def can_mount_over_efa(instance_type: InstanceType) -> bool:
    """Whether instances of this type can mount a file system over EFA: Nitro v4 with EFA, except the Trn2 family.

    No source says that Trainium3 can.
    """
    return (
        instance_type.efa_interfaces > 0
        and instance_type.nitro_generation >= _EFA_MINIMUM_NITRO
        and instance_type.accelerator not in {"Trainium2", "Trainium3"}
    )


def efa_connections(instance_type: InstanceType, *, nodes: int) -> int:
    """Return the number of EFA connections that nodes open to a file system, as AWS's setup script configures them."""
    machine = MACHINES.get(instance_type.name)
    configured = machine.lustre_efa_interfaces if machine else None
    return nodes * (instance_type.efa_interfaces if configured is None else configured)
