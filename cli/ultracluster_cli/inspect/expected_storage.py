"""Compute the expected performance and cost of new file systems."""

from collections.abc import Mapping
from typing import Any

from ultracluster_catalog.lustre.lustre_figures import file_system_figures
from ultracluster_stacks.config import ClusterConfig

__all__ = ["expected_file_system", "file_system_row"]


def expected_file_system(cluster: ClusterConfig) -> dict[str, Any] | None:
    """Return the figures of a cluster's file system as plain values; None for an existing one.

    Args:
        cluster: Valid cluster.
    """
    if cluster.file_system.file_system_id is not None:
        return None
    settings = cluster.file_system.settings
    figures = file_system_figures(
        settings, instance_type=cluster.machine, nodes=cluster.most_nodes, region=cluster.region
    )
    amount, price = figures.usd_per_month, figures.price
    return {
        "deployment_type": settings.deployment_type,
        "storage_type": settings.storage_type,
        "storage_gib": settings.storage_capacity_gib,
        "object_servers": figures.object_servers,
        "addresses": figures.addresses,
        "baseline_mb_per_s": figures.baseline_mb_per_s,
        "write_mb_per_s": figures.write_mb_per_s,
        "node_gbps": figures.node_gbps,
        "node_mb_per_s": figures.node_mb_per_s,
        "usd_per_month": None if amount is None else float(round(amount, 2)),
        "price": f"{price.source}, {price.dated}" if amount is not None else price.reason,
        "not_priced": list(figures.not_priced),
    }


def file_system_row(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a file system as a row of a table.

    Args:
        cluster: Cluster of the JSON output.
    """
    system = cluster["file_system"]
    size = "" if system["storage_gib"] is None else f", {system['storage_gib']:,} GiB"
    amount = system["usd_per_month"]
    cost = f"{amount:,.2f} ({system['price']})" if amount is not None else f"unknown: {system['price']}"
    beside = f"; excluding {', '.join(system['not_priced'])}" if system["not_priced"] else ""
    return {
        "cluster": cluster["cluster"],
        "file system": f"{system['deployment_type']} {system['storage_type']}{size}",
        "object servers": system["object_servers"],
        "total MB/s": f"{system['baseline_mb_per_s']:,.0f}, {system['write_mb_per_s']:,.0f} writing",
        "Gbit/s of a single node": f"{system['node_gbps']:g}",
        "MB/s per node, all active": f"{system['node_mb_per_s']:,.0f}",
        "USD per month": cost + beside,
    }
