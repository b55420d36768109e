"""Which part of a VPC its nodes get, and which its NAT gateway."""

import ipaddress

from ultracluster_rules.findings import FindingsError
from ultracluster_rules.network import (
    check_cidr,
    check_nat_gateway_room,
    check_subnet_size,
    smallest_subnet_prefix,
)

__all__ = ["public_subnet_cidr", "subnet_cidr"]

# Changing a subnet's size replaces it, and the file system inside it. A /20 costs nothing more than a small
# subnet and leaves room for about two thousand nodes of the batch layout.
_LARGEST_DEFAULT_PREFIX = 20
_PUBLIC_PREFIX = 28  # the smallest subnet that EC2 makes; the NAT gateway takes one address of it


def _public_subnet(network: ipaddress.IPv4Network) -> ipaddress.IPv4Network:
    size = 2 ** (32 - _PUBLIC_PREFIX)
    return ipaddress.IPv4Network((int(network.broadcast_address) + 1 - size, _PUBLIC_PREFIX))


def public_subnet_cidr(cidr: str) -> str:
    """Give the addresses of the public subnet: the last /28 of the VPC.

    Args:
        cidr: Addresses of the VPC, as `subnet_cidr` took them.
    """
    return str(_public_subnet(ipaddress.IPv4Network(cidr)))


def subnet_cidr(cidr: str, needed: int, prefix: int | None, *, nat_gateway: bool) -> str:
    """Give the addresses of the nodes' subnet, the first of the VPC.

    Args:
        cidr: Addresses of the VPC.
        needed: Addresses that the subnet must have, those that AWS keeps among them.
        prefix: Its prefix length. Default: /20, or larger where more addresses are needed.
        nat_gateway: Whether a public subnet must find room beside it.

    Raises:
        FindingsError: If the CIDR is no network address (UC3103), or there is no room (UC3105).
    """
    if findings := check_cidr(cidr, path="cidr"):
        raise FindingsError(findings)
    network = ipaddress.IPv4Network(cidr)
    chosen = prefix
    if chosen is None:
        # Beside a public subnet there is at most one half of the VPC.
        largest = network.prefixlen + nat_gateway
        chosen = max(largest, min(_LARGEST_DEFAULT_PREFIX, smallest_subnet_prefix(needed)))
    findings = [finding.at("cidr") for finding in check_subnet_size(network, chosen, needed=needed)]
    if nat_gateway and not findings:
        findings = [finding.at("prefix") for finding in check_nat_gateway_room(network, chosen)]
    if findings:
        raise FindingsError(findings)
    return str(next(network.subnets(new_prefix=chosen)))
