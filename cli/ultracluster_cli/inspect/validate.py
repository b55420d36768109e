"""`ultracluster validate`: validate a rollout file."""

from collections.abc import Mapping
from typing import Any

from ultracluster_catalog.lustre.lustre_figures import file_system_figures
from ultracluster_catalog.machines.nic_layouts import addresses_per_node
from ultracluster_cli.options import JsonOption, RolloutArgument
from ultracluster_cli.output import print_findings, print_json, print_table
from ultracluster_rules.network import addresses_of_existing_subnet, cluster_addresses, network_interfaces
from ultracluster_stacks.config import ClusterConfig, load_rollout


def validate(rollout: RolloutArgument, *, as_json: JsonOption = False) -> None:
    """Validate a rollout file and list its clusters.

    Reports all errors with their lines. Needs neither AWS nor the CDK.
    """
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    rows = [
        {
            "wave": wave.name,
            "cluster": cluster.name,
            "region": cluster.region,
            "zone_id": cluster.zone_id,
            "instance_type": cluster.instance_type,
            "nodes": cluster.nodes,
            "market_type": cluster.capacity.market_type,
            "reservation_id": cluster.capacity.reservation_id,
            "jobs": len(cluster.jobs),
            "file_system": expected_file_system(cluster),
            "network": expected_network(cluster),
        }
        for wave in loaded.config.waves
        for cluster in wave.clusters
    ]
    if as_json:
        suppressed = [{"warning": warning.finding, "reason": warning.reason} for warning in loaded.suppressed]
        print_json(clusters=rows, warnings=loaded.warnings, suppressed=suppressed)
    else:
        columns = [name for name in rows[0] if name not in {"file_system", "network"}]
        print_table(rows, columns=columns)
        print_table(map(network_row, rows), title="Network interfaces and addresses")
        storage = [file_system_row(row) for row in rows if row["file_system"] is not None]
        if storage:
            title = "New file systems: documented maximum performance"
            print_table(storage, title=title)


def expected_network(cluster: ClusterConfig) -> dict[str, Any]:
    """Return the network figures of a cluster as plain values."""
    machine, nodes = cluster.machine, cluster.most_nodes
    interfaces = network_interfaces(machine, cluster.network.layout)
    if cluster.network.subnet_id is None:
        addresses = cluster_addresses(
            instance_type=machine,
            nodes=nodes,
            nic_layout=interfaces,
            endpoints=len(cluster.network.endpoints),
        )
    else:
        addresses = addresses_of_existing_subnet(
            instance_type=machine,
            nodes=nodes,
            nic_layout=interfaces,
            file_system_interfaces=cluster.file_system.subnet_addresses,
        )
    return {
        "interfaces": len(interfaces),
        "efa_interfaces": sum(interface.has_efa for interface in interfaces),
        "card_0_taken": sum(interface.card == 0 for interface in interfaces),
        "card_0_slots": machine.network_cards[0].max_interfaces,
        "addresses_per_node": addresses_per_node(interfaces),
        "addresses_needed": addresses,
        "addresses_free": cluster.network.available_addresses,
    }


def network_row(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the network figures of a cluster as a row of a table."""
    network = cluster["network"]
    free = "" if network["addresses_free"] is None else f" of {network['addresses_free']:,} free"
    return {
        "cluster": cluster["cluster"],
        "interfaces per node": network["interfaces"],
        "with EFA": network["efa_interfaces"],
        "slots of card 0": f"{network['card_0_taken']} of {network['card_0_slots']}, plus 1 for a task",
        "addresses per node": f"{network['addresses_per_node']}, plus 1 for a task",
        "total addresses": f"{network['addresses_needed']:,}{free}",
    }


def expected_file_system(cluster: ClusterConfig) -> dict[str, Any] | None:
    """Return the figures of a cluster's file system as plain values; None for an existing one."""
    if not cluster.file_system.is_new:
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
    """Return the figures of a file system as a row of a table."""
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
