"""How many addresses a cluster takes from its subnet, and the smallest subnet that holds them.

Everything of a cluster lies in one subnet: a Capacity Block is in one zone, and EFA traffic does not leave it.
"""

from typing import Final

from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["RESERVED_PER_SUBNET", "check_subnet_prefix", "subnet_addresses", "subnet_prefix"]

RESERVED_PER_SUBNET: Final = 5
"""Addresses that AWS keeps in every subnet: network, router, DNS, future use, broadcast (VPC User Guide)."""

_IPV4_BITS: Final = 32


def subnet_addresses(
    *,
    nodes: int,
    addresses_per_node: int,
    tasks_per_node: int = 1,
    interface_endpoints: int = 0,
    file_system_interfaces: int = 0,
) -> int:
    """Count the addresses that a subnet must have for a cluster, including those that AWS keeps for itself.

    Args:
        nodes: Nodes at the same time.
        addresses_per_node: Addresses of a node's own interfaces; see `nic_layouts.addresses_per_node`.
        tasks_per_node: Tasks with an interface of their own on each node. Default: 1, as for a multi-node
            parallel job, which runs one container on each node.
        interface_endpoints: Interface VPC endpoints in the subnet; each takes one address. Default: none.
        file_system_interfaces: Interfaces of file systems; see `lustre.file_system_interfaces`. Default: none.

    Raises:
        FindingsError: UC3001 for each negative count, all of them together.
    """
    counts = {
        "nodes": nodes,
        "addresses_per_node": addresses_per_node,
        "tasks_per_node": tasks_per_node,
        "interface_endpoints": interface_endpoints,
        "file_system_interfaces": file_system_interfaces,
    }
    negative = [
        Finding(code="UC3001", path=name, problem=f"got {quote(count)}", allowed="0 or more")
        for name, count in counts.items()
        if count < 0
    ]
    if negative:
        raise FindingsError(negative)
    return (
        RESERVED_PER_SUBNET
        + nodes * (addresses_per_node + tasks_per_node)
        + interface_endpoints
        + file_system_interfaces
    )


def subnet_prefix(needed: int, *, smallest: int = 28, largest: int = 16) -> int:
    """Find the prefix length of the smallest subnet with enough addresses.

    Args:
        needed: Addresses in all, as `subnet_addresses` counts them.
        smallest: Prefix length of the smallest subnet to answer with. Default: 28, the smallest that AWS allows.
        largest: Prefix length of the largest subnet to answer with. Default: 16, the largest that AWS allows.

    Raises:
        FindingsError: UC3002 when the largest subnet is too small.
    """
    prefix = min(smallest, _IPV4_BITS - max(needed - 1, 0).bit_length())
    if prefix < largest:
        raise FindingsError(_too_small(needed=needed, prefix=largest, remedy="Use fewer nodes per cluster"))
    return prefix


def check_subnet_prefix(*, prefix: int, needed: int) -> list[Finding]:
    """Find out whether a subnet that somebody chose holds a cluster.

    Args:
        prefix: Prefix length of the subnet.
        needed: Addresses in all, as `subnet_addresses` counts them.

    Returns:
        UC3002 when the subnet is too small; empty when it fits.
    """
    if needed <= 2 ** (_IPV4_BITS - prefix):
        return []
    fitting = _IPV4_BITS - (needed - 1).bit_length()
    return _too_small(needed=needed, prefix=prefix, remedy=f"A subnet of /{fitting} holds them")


def _too_small(*, needed: int, prefix: int, remedy: str) -> list[Finding]:
    return [
        Finding(
            code="UC3002",
            problem=f"the cluster takes {needed} addresses, {RESERVED_PER_SUBNET} of them kept by AWS; "
            f"a subnet of /{prefix} has {2 ** (_IPV4_BITS - prefix)}",
            remedy=f"{remedy}, or use a layout of network interfaces with fewer addresses per node.",
        )
    ]
