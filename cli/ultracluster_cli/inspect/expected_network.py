"""Compute the interfaces and addresses that the nodes of a rollout use."""

from collections.abc import Mapping
from typing import Any

from ultracluster_catalog.machines.nic_layouts import addresses_per_node, network_interfaces
from ultracluster_catalog.places.addresses import RESERVED_PER_SUBNET, subnet_addresses
from ultracluster_catalog.places.cluster_subnet import FILE_SYSTEM_ADDRESSES, cluster_addresses
from ultracluster_stacks.config import ClusterConfig

__all__ = ["expected_network", "network_row"]


def expected_network(cluster: ClusterConfig) -> dict[str, Any]:
    """Return the network figures of a cluster as plain values.

    Args:
        cluster: A cluster without mistakes.
    """
    machine, nodes = cluster.machine, cluster.most_nodes
    interfaces = network_interfaces(machine, cluster.network.layout)
    per_node = addresses_per_node(interfaces)
    if cluster.network.subnet_id is None:
        needed = cluster_addresses(instance_type=machine, nodes=nodes, nic_layout=interfaces)
    else:  # AWS's own addresses and the endpoints are no part of what is free
        needed = (
            subnet_addresses(
                nodes=nodes, addresses_per_node=per_node, file_system_interfaces=FILE_SYSTEM_ADDRESSES
            )
            - RESERVED_PER_SUBNET
        )
    return {
        "interfaces": len(interfaces),
        "efa_interfaces": sum(each.has_efa for each in interfaces),
        "card_0_taken": sum(each.card == 0 for each in interfaces),
        "card_0_slots": machine.network_cards[0].max_interfaces,
        "addresses_per_node": per_node,
        "addresses_needed": needed,
        "addresses_free": cluster.network.available_addresses,
    }


def network_row(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the network figures of a cluster as a row of a table.

    Args:
        cluster: A cluster of the JSON, with its network.
    """
    network = cluster["network"]
    free = "" if network["addresses_free"] is None else f" of {network['addresses_free']:,} free"
    return {
        "cluster": cluster["cluster"],
        "interfaces of a node": network["interfaces"],
        "with EFA": network["efa_interfaces"],
        "slots of card 0": f"{network['card_0_taken']} of {network['card_0_slots']}, and 1 for a task",
        "addresses of a node": f"{network['addresses_per_node']}, and 1 for a task",
        "addresses in all": f"{network['addresses_needed']:,}{free}",
    }
