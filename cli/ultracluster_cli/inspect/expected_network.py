"""Compute the network interfaces and addresses that clusters use."""

from collections.abc import Mapping
from typing import Any

from ultracluster_catalog.machines.nic_layouts import addresses_per_node
from ultracluster_catalog.places.addresses import RESERVED_PER_SUBNET, subnet_addresses
from ultracluster_catalog.places.cluster_subnet import FILE_SYSTEM_ADDRESSES
from ultracluster_rules.network import cluster_addresses, network_interfaces
from ultracluster_stacks.config import ClusterConfig

__all__ = ["expected_network", "network_row"]


def expected_network(cluster: ClusterConfig) -> dict[str, Any]:
    """Return the network figures of a cluster as plain values.

    Args:
        cluster: Valid cluster.
    """
    machine, nodes = cluster.machine, cluster.most_nodes
    interfaces = network_interfaces(machine, cluster.network.layout)
    per_node = addresses_per_node(interfaces)
    if cluster.network.subnet_id is None:
        addresses = cluster_addresses(instance_type=machine, nodes=nodes, nic_layout=interfaces)
    else:  # free addresses exclude those reserved by AWS and endpoints
        addresses = (
            subnet_addresses(
                nodes=nodes, addresses_per_node=per_node, file_system_interfaces=FILE_SYSTEM_ADDRESSES
            )
            - RESERVED_PER_SUBNET
        )
    return {
        "interfaces": len(interfaces),
        "efa_interfaces": sum(interface.has_efa for interface in interfaces),
        "card_0_taken": sum(interface.card == 0 for interface in interfaces),
        "card_0_slots": machine.network_cards[0].max_interfaces,
        "addresses_per_node": per_node,
        "addresses_needed": addresses,
        "addresses_free": cluster.network.free_addresses,
    }


def network_row(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the network figures of a cluster as a row of a table.

    Args:
        cluster: Cluster of the JSON output.
    """
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
