"""CIDR blocks of the subnets of a VPC: nodes and NAT gateway."""

import ipaddress

from ultracluster_spec.findings import reject
from ultracluster_spec.network import (
    check_cidr,
    check_nat_gateway_room,
    check_subnet_size,
    smallest_subnet_prefix,
)

# Changing the size of a subnet replaces it and the file system in it. A /20 costs no more than a small subnet and has room
# for about 2,000 nodes of the batch layout.
_LARGEST_DEFAULT_PREFIX = 20
_PUBLIC_PREFIX = 28  # the smallest subnet that EC2 supports; the NAT gateway uses one address of it


def public_subnet_cidr(cidr: str) -> str:
    """Return the CIDR block of the public subnet, the last /28 of the VPC."""
    last = ipaddress.IPv4Network(cidr).broadcast_address
    return str(ipaddress.IPv4Network(f"{last}/{_PUBLIC_PREFIX}", strict=False))


def subnet_cidr(cidr: str, needed: int, prefix: int | None, *, nat_gateway: bool) -> str:
    """Return the CIDR block of the subnet of the nodes, the first of the VPC.

    Args:
        cidr: CIDR block of the VPC.
        needed: Number of addresses that the subnet needs, including those that AWS reserves.
        prefix: Prefix length of the subnet. Default: /20, or shorter if more addresses are needed.
        nat_gateway: Whether to leave room for a public subnet.

    Raises:
        FindingsError: If the CIDR is not a network address (UC3103), or the subnets do not fit (UC3105).
    """
    reject(check_cidr(cidr, path="cidr"))
    network = ipaddress.IPv4Network(cidr)
    chosen = prefix
    if chosen is None:
        # With a public subnet, the largest possible subnet is half of the VPC.
        largest = network.prefixlen + nat_gateway
        chosen = max(largest, min(_LARGEST_DEFAULT_PREFIX, smallest_subnet_prefix(needed)))
    findings = [finding.at("cidr") for finding in check_subnet_size(network, chosen, needed=needed)]
    if nat_gateway and not findings:
        findings = [finding.at("subnet_prefix") for finding in check_nat_gateway_room(network, chosen)]
    reject(findings)
    return str(next(network.subnets(new_prefix=chosen)))
