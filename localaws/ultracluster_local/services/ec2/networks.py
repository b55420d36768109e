"""moto's network objects of a Region: how they are described, and those that checks need."""

import contextlib
import ipaddress
from collections.abc import Iterator
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.ec2.models.availability_zones_and_regions import Zone
from moto.ec2.models.elastic_ip_addresses import ElasticAddress
from moto.ec2.models.subnets import SubnetBackend
from moto.ec2.models.vpcs import VPCBackend
from moto.ec2.responses import EC2Response

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.replacing import instead_of

__all__ = [
    "backend_of",
    "endpoints",
    "instances",
    "interfaces",
    "members_of",
    "nat_gateways",
    "network_of",
    "subnets",
    "users_of_groups",
]

_DELETED = frozenset({"deleting", "deleted"})
_GONE = frozenset({"terminated", "shutting-down"})

ElasticAddress.public_ipv4_pool = "amazon"
ElasticAddress.network_border_group = property(lambda address: address.ec2_backend.region_name)
# localstack/localstack, test_ec2.snapshot.json
Zone.network_border_group = property(lambda zone: zone.region_name)
Zone.group_name = property(lambda zone: f"{zone.region_name}-zg-1")


@instead_of(EC2Response, "allocate_address")
def _allocate_address(original: Any, response: Any) -> ActionResult:
    """Say of which pool an address is, as aws-cli's examples of allocate-address and describe-addresses do."""
    pool = {"PublicIpv4Pool": "amazon", "NetworkBorderGroup": response.region}
    return ActionResult({**original(response).result, **pool})


@instead_of(VPCBackend, "create_vpc")
@instead_of(SubnetBackend, "create_subnet")
def _in_canonical_form(original: Any, backend: Any, *given: Any, **named: Any) -> Any:
    """Keep a block in its canonical form: API_CreateVpc and API_CreateSubnet, CidrBlock."""
    return original(backend, *map(_canonical, given), **named)


def _canonical(value: Any) -> Any:
    with contextlib.suppress(ValueError):  # moto refuses the others
        return str(ipaddress.ip_network(value, strict=False)) if "/" in str(value) else value
    return value


def backend_of(region: str) -> Any:
    """Return moto's EC2 of a Region."""
    return ec2_backends[ACCOUNT][region]


def subnets(region: str) -> dict[str, Any]:
    """Return all subnets by ID."""
    return {name: zone[name] for zone in backend_of(region).subnets.values() for name in zone}


def network_of(region: str, group_id: str) -> str | None:
    """Return the VPC of a security group; None if there is no such group."""
    group = backend_of(region).get_security_group_from_id(group_id)
    return None if group is None else str(group.vpc_id)


def endpoints(region: str) -> list[Any]:
    """Return the VPC endpoints that are not deleted."""
    return [one for one in backend_of(region).vpc_end_points.values() if one.state != "deleted"]


def nat_gateways(region: str) -> list[Any]:
    """Return the NAT gateways that are not deleted."""
    return [one for one in backend_of(region).nat_gateways.values() if one.state not in _DELETED]


def instances(region: str) -> Iterator[Any]:
    """Return the instances that have not been terminated."""
    for reservation in list(backend_of(region).reservations.values()):
        yield from (one for one in reservation.instances if one.state not in _GONE)


def members_of(region: str, placement_group: str) -> list[Any]:
    """Return the instances in a placement group that have not been terminated."""
    return [one for one in instances(region) if one.placement.group_name == placement_group]


def interfaces(region: str) -> list[Any]:
    """Return the network interfaces; moto leaves those of deleted NAT gateways behind."""
    gateways = backend_of(region).nat_gateways.values()
    left = {
        address.get("networkInterfaceId")
        for one in gateways
        if one.state in _DELETED
        for address in one.address_set
    }
    return [one for one in list(backend_of(region).enis.values()) if one.id not in left]


def users_of_groups(region: str) -> Iterator[tuple[str, set[str]]]:
    """Return the interfaces, instances and endpoints with the IDs of their security groups."""
    for interface in interfaces(region):
        yield interface.id, {group.id for group in interface.group_set}
    for endpoint in endpoints(region):
        yield endpoint.id, set(endpoint.security_group_ids)
    for instance in instances(region):
        yield instance.id, {group.id for group in instance.security_groups}
