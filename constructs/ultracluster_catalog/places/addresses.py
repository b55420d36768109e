"""Number of addresses that a cluster needs, and the smallest subnet with so many.

A cluster has one subnet: a Capacity Block is in one zone, and EFA traffic cannot leave it.
"""

from typing import Final

RESERVED_PER_SUBNET: Final = 5
"""Addresses that AWS reserves in every subnet: network, router, DNS, future use, broadcast (VPC User Guide)."""

LARGEST_SUBNET_PREFIX: Final = 16
"""Prefix length of the largest subnet (VPC User Guide)."""

SMALLEST_SUBNET_PREFIX: Final = 28
"""Prefix length of the smallest subnet (VPC User Guide)."""


def subnet_addresses(
    *,
    nodes: int,
    addresses_per_node: int,
    tasks_per_node: int = 1,
    interface_endpoints: int = 0,
    file_system_interfaces: int = 0,
) -> int:
    """Return the number of addresses that a cluster needs in its subnet, including those reserved by AWS.

    Each task with its own network interface (one on a node of a multi-node parallel job), interface endpoint and file
    system interface takes one.

    Raises:
        ValueError: If a count is negative.
    """
    counts = {
        "nodes": nodes,
        "addresses_per_node": addresses_per_node,
        "tasks_per_node": tasks_per_node,
        "interface_endpoints": interface_endpoints,
        "file_system_interfaces": file_system_interfaces,
    }
    if negative := [name for name, count in counts.items() if count < 0]:
        raise ValueError(f"{', '.join(negative)}: below 0")
    return (
        RESERVED_PER_SUBNET
        + nodes * (addresses_per_node + tasks_per_node)
        + interface_endpoints
        + file_system_interfaces
    )


def subnet_prefix(needed: int) -> int:
    """Return the prefix length of the smallest subnet with enough addresses; ValueError if the largest is too small."""
    prefix = min(SMALLEST_SUBNET_PREFIX, 32 - max(needed - 1, 0).bit_length())
    if prefix < LARGEST_SUBNET_PREFIX:
        raise ValueError(f"no subnet has {needed} addresses")
    return prefix
