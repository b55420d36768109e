"""Security groups: the rules of default groups, which moto leaves out, and constraints of names and rules."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from moto.ec2.models.security_groups import SecurityGroupBackend

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.errors import invalid_value
from ultracluster_local.services.ec2.networks import backend_of, network_of
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="ec2")

_WITH_PORTS = frozenset({"tcp", "udp", "6", "17"})
_MOST_PORT = 65_535


@instead_of(SecurityGroupBackend, "create_security_group")
def _admitting_itself(original: Any, backend: Any, *arguments: Any, **settings: Any) -> Any:
    """Add to default groups the rule that admits all traffic from themselves.

    https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html, "Default security group basics".
    """
    group = original(backend, *arguments, **settings)
    if group.is_default:
        backend.authorize_security_group_ingress(
            group.id, "-1", None, None, [], source_groups=[{"GroupId": group.id}], vpc_id=group.vpc_id
        )
    return group


@_check("CreateSecurityGroup")
def create_security_group(request: Request) -> None:
    """Refuse a name that another group of the VPC has."""
    name, network = request.parameters["GroupName"], request.parameters.get("VpcId")
    if network:
        backend_of(request.region).get_vpc(network)
    kept = backend_of(request.region).groups.get(network) or {}
    if network and any(one.name == name for one in kept.values()):  # kubernetes/kops#2376
        raise ServiceError(
            "InvalidGroup.Duplicate", f"The security group '{name}' already exists for VPC '{network}'"
        )


@_check("AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress")
def authorize(request: Request) -> None:
    """Check ports and groups of rules, and that they are new; moto counts rules."""
    for permission in request.parameters.get("IpPermissions") or []:
        _check_ports(permission)
        for group_id in filter(
            None, (one.get("GroupId") for one in permission.get("UserIdGroupPairs") or [])
        ):
            own, other = (
                network_of(request.region, one) for one in (request.parameters.get("GroupId") or "", group_id)
            )
            if own and other and own != other:  # the local AWS has no peering
                problem = "You have specified two resources that belong to different networks."
                raise ServiceError("InvalidGroup.NotFound", problem)
    group = backend_of(request.region).get_security_group_from_id(request.parameters.get("GroupId") or "")
    if group is not None:
        kept = group.ingress_rules if request.operation.endswith("Ingress") else group.egress_rules
        _check_new(request.parameters.get("IpPermissions") or [], kept)


def _check_new(permissions: Iterable[Mapping[str, Any]], kept: Iterable[Any]) -> None:
    """Refuse a rule that a group has, with the words of rubber/rubber#483 and lucidsoftware/cumulus#101."""
    known = {
        _words(one.ip_protocol, one.from_port, one.to_port, peer)
        for one in kept
        for peer in _peers({"Range": [one.ip_range or {}], "Group": [one.source_group or {}]})
    }
    for permission in permissions:
        ports = permission.get("FromPort"), permission.get("ToPort")
        for peer in _peers(permission):
            words = _words(str(permission.get("IpProtocol")), *ports, peer)
            if words and words in known:
                problem = f'the specified rule "{words}" already exists'
                raise ServiceError("InvalidPermission.Duplicate", problem)


def _peers(permission: Mapping[str, Any]) -> Iterator[str]:
    for one in itertools.chain(*(part for part in permission.values() if isinstance(part, list))):
        yield one.get("CidrIp") or one.get("CidrIpv6") or one.get("GroupId") or ""


def _words(protocol: str, first: Any, last: Any, peer: str) -> str:
    """Return how EC2 writes a rule; empty for protocols for which no answer of EC2 is known."""
    if protocol == "-1":
        return f"peer: {peer}, ALL, ALLOW" if peer else ""
    name = {"6": "TCP", "17": "UDP"}.get(protocol, protocol.upper())
    known = peer and name in {"TCP", "UDP"}
    return f"peer: {peer}, {name}, from port: {first}, to port: {last}, ALLOW" if known else ""


def _check_ports(permission: Mapping[str, Any]) -> None:
    if permission.get("FromPort") == -1 and permission.get("ToPort") not in {None, -1}:
        # API_AuthorizeSecurityGroupIngress, ToPort
        problem = f"ICMP code ({permission['ToPort']}) must be -1 for all ICMP types"
        raise invalid_value(problem)
    if str(permission.get("IpProtocol")).lower() not in _WITH_PORTS:
        return
    first, last = permission.get("FromPort"), permission.get("ToPort")
    if first is None or last is None:
        raise invalid_value(
            "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.",
        )
    for which, port in (("from", first), ("to", last)):
        if not 0 <= port <= _MOST_PORT:  # aws/aws-cli#1066
            raise invalid_value(f"TCP/UDP ({which}) port ({port}) out of range")
    if first > last:
        raise invalid_value(f"Invalid TCP/UDP port range ({first}:{last})")
