"""Checks of existing subnets: location, free addresses, routes to AWS services, and security group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_runtime.preflight.check import (
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.quotas import is_deployed
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import RolloutRequirements, SubnetRequirements

__all__ = ["NETWORK_CHECKS", "Routes"]

Description = Mapping[str, Any]

_EXISTS: Final = "UC9435"
_ANYWHERE: Final = "0.0.0.0/0"


def _subnets(rollout: RolloutRequirements) -> Iterator[SubnetRequirements]:
    yield from (cluster.subnet for cluster in rollout.clusters if cluster.subnet is not None)


def _grouped(rollout: RolloutRequirements) -> Iterator[SubnetRequirements]:
    yield from (subnet for subnet in _subnets(rollout) if subnet.security_group_id is not None)


def _find(reader: AwsReader, requirements: SubnetRequirements) -> Description | None:
    response = reader.call_or_none(
        "ec2",
        requirements.region,
        "DescribeSubnets",
        absent=("InvalidSubnetID.NotFound",),
        SubnetIds=[requirements.subnet_id],
    )
    return response["Subnets"][0] if response and response["Subnets"] else None


def _shown(reader: AwsReader, requirements: SubnetRequirements) -> Description:
    return _find(reader, requirements) or {}


def _evaluate_subnet(requirements: SubnetRequirements, description: Description | None) -> Outcome:
    """Check that the subnet is where the rollout says."""
    if description is None:
        return failed(
            f"{requirements.region} has no {requirements.subnet_id} in this account",
            "Correct network.subnet_id",
        )
    wrong = []
    if description["AvailabilityZoneId"] != requirements.zone_id:
        wrong.append(
            f"it is in {description['AvailabilityZoneId']}; the capacity is in {requirements.zone_id}"
        )
    if description["VpcId"] != requirements.vpc_id:
        wrong.append(f"it belongs to {description['VpcId']}; the rollout says {requirements.vpc_id}")
    if description.get("State", "available") != "available":
        wrong.append(f"it is {description['State']}")
    if wrong:
        return failed("; ".join(wrong), f"Use a subnet of {requirements.vpc_id} in {requirements.zone_id}")
    return passed(f"it is in {requirements.zone_id} and belongs to {requirements.vpc_id}")


def _room(reader: AwsReader, requirements: SubnetRequirements) -> tuple[int, bool]:
    free = int(_shown(reader, requirements).get("AvailableIpAddressCount", 0))
    return free, is_deployed(reader, requirements.region, requirements.stack)


def _evaluate_addresses(requirements: SubnetRequirements, evidence: tuple[int, bool]) -> Outcome:
    """Check that the subnet has enough free addresses for the cluster."""
    free, deployed = evidence
    usage = f"{free:,} addresses are free; the cluster needs {requirements.addresses:,}"
    if free >= requirements.addresses:
        return passed(usage)
    remedy = "Use a larger subnet, fewer nodes, or the layout batch, which uses one address per node"
    if deployed:
        return warned(f"{usage}; it is deployed, so some of the used addresses may be its own", remedy)
    return failed(usage, remedy)


def _evaluate_private(_: SubnetRequirements, description: Description) -> Outcome:
    """Check that the subnet assigns no public addresses: EC2 rejects them for instances with several interfaces."""
    if description.get("MapPublicIpOnLaunch"):
        return failed(
            "it assigns public addresses, which EC2 rejects for nodes with several interfaces",
            "Use a private subnet, or disable them: `aws ec2 modify-subnet-attribute --no-map-public-ip-on-launch`",
        )
    return passed("it assigns no public addresses")


@dataclass(frozen=True, kw_only=True, slots=True)
class Routes:
    """Routes from a subnet to AWS services.

    Attributes:
        default: Target of its default route, such as ``nat-0123456789abcdef0``. None without one.
        gateways: Services with a gateway endpoint in its route table, such as ``s3``.
        endpoints: Services with an interface endpoint in its VPC and private DNS enabled.
        without_private_dns: Services that only have interface endpoints with private DNS disabled.
    """

    default: str | None
    gateways: frozenset[str]
    endpoints: frozenset[str]
    without_private_dns: frozenset[str]


def _routes(reader: AwsReader, requirements: SubnetRequirements) -> Routes:
    tables = reader.list_all(
        "ec2",
        requirements.region,
        "DescribeRouteTables",
        "RouteTables",
        Filters=[{"Name": "vpc-id", "Values": [requirements.vpc_id]}],
    )
    table = _table_of(requirements.subnet_id, tables)
    endpoints = reader.list_all(
        "ec2",
        requirements.region,
        "DescribeVpcEndpoints",
        "VpcEndpoints",
        Filters=[{"Name": "vpc-id", "Values": [requirements.vpc_id]}],
    )
    usable = [endpoint for endpoint in endpoints if endpoint.get("State", "available").lower() == "available"]
    start = f"com.amazonaws.{requirements.region}."
    gateways = {
        endpoint["ServiceName"].removeprefix(start)
        for endpoint in usable
        if endpoint.get("VpcEndpointType") == "Gateway"
        and table.get("RouteTableId") in endpoint.get("RouteTableIds", [])
    }
    named: dict[bool, set[str]] = {True: set(), False: set()}
    for endpoint in usable:
        if endpoint.get("VpcEndpointType") == "Interface":
            named[bool(endpoint.get("PrivateDnsEnabled"))].add(endpoint["ServiceName"].removeprefix(start))
    return Routes(
        default=_default_route(table),
        gateways=frozenset(gateways),
        endpoints=frozenset(named[True]),
        without_private_dns=frozenset(named[False] - named[True]),
    )


def _table_of(subnet_id: str, tables: list[Any]) -> Description:
    """Return the route table of a subnet: its own, else the main one of the VPC."""
    main: Description = {}
    for table in tables:
        for association in table.get("Associations", []):
            if association.get("SubnetId") == subnet_id:
                return dict(table)
            if association.get("Main"):
                main = table
    return main


def _default_route(table: Description) -> str | None:
    for route in table.get("Routes", []):
        if route.get("DestinationCidrBlock") == _ANYWHERE and route.get("State", "active") == "active":
            targets = (
                "NatGatewayId",
                "TransitGatewayId",
                "NetworkInterfaceId",
                "VpcPeeringConnectionId",
                "GatewayId",
            )
            return next((str(route[target]) for target in targets if route.get(target)), None)
    return None


def _has_egress(target: str | None) -> bool:
    """Return whether a route serves nodes without public addresses; an internet gateway does not."""
    return target is not None and not target.startswith("igw-")


def _evaluate_s3(_: SubnetRequirements, routes: Routes) -> Outcome:
    """Check that nodes reach S3, which stores image layers, checkpoints and compiled graphs."""
    if "s3" in routes.gateways:
        return passed("its route table has a gateway endpoint for S3")
    if "s3" in routes.endpoints:
        return warned(
            "S3 is reached through an interface endpoint, which is billed per GB",
            "Add a gateway endpoint for S3, which is free, to its route table",
        )
    if _has_egress(routes.default):
        return warned(
            f"S3 is reached through {routes.default}; a NAT gateway is billed per GB",
            "Add a gateway endpoint for S3, which is free, to its route table",
        )
    return failed("there is no route to S3", "Add a gateway endpoint for S3 to its route table")


def _evaluate_services(requirements: SubnetRequirements, routes: Routes) -> Outcome:
    """Check that nodes reach the services that they need to boot, join and log."""
    missing = [service for service in requirements.services if service not in routes.endpoints]
    if not missing:
        return passed(f"its VPC has endpoints for all {len(requirements.services)} services")
    if _has_egress(routes.default):
        return passed(f"{', '.join(missing)} are reached through {routes.default}")
    unnamed = [service for service in missing if service in routes.without_private_dns]
    hint = f"; without private DNS: {', '.join(unnamed)}" if unnamed else ""
    via = (
        f" (the default route leads to {routes.default}, which is of no use without public addresses)"
        if routes.default
        else ""
    )
    return failed(
        f"there is no route to {', '.join(missing)}{hint}{via}",
        "Add a NAT gateway, or interface endpoints with private DNS that allow the nodes",
    )


def _dns(reader: AwsReader, requirements: SubnetRequirements) -> dict[str, bool]:
    return {
        name: bool(
            reader.call(
                "ec2",
                requirements.region,
                "DescribeVpcAttribute",
                VpcId=requirements.vpc_id,
                Attribute=attribute,
            )[member]["Value"]
        )
        for name, attribute, member in (
            ("DNS support", "enableDnsSupport", "EnableDnsSupport"),
            ("DNS hostnames", "enableDnsHostnames", "EnableDnsHostnames"),
        )
    }


def _evaluate_dns(requirements: SubnetRequirements, settings: dict[str, bool]) -> Outcome:
    """Check that the VPC resolves the names of endpoints and file systems."""
    off = [name for name, on in settings.items() if not on]
    if not off:
        return passed(f"{' and '.join(settings)} are enabled in {requirements.vpc_id}")
    return failed(
        f"{' and '.join(off)} disabled in {requirements.vpc_id}",
        "Enable both: `aws ec2 modify-vpc-attribute`; endpoints and file systems are resolved by name",
    )


def _group(reader: AwsReader, requirements: SubnetRequirements) -> Description | None:
    response = reader.call_or_none(
        "ec2",
        requirements.region,
        "DescribeSecurityGroups",
        absent=("InvalidGroup.NotFound", "InvalidGroupId.Malformed"),
        GroupIds=[requirements.security_group_id],
    )
    return response["SecurityGroups"][0] if response and response["SecurityGroups"] else None


def _evaluate_group(requirements: SubnetRequirements, description: Description | None) -> Outcome:
    """Check that the group allows EFA: all traffic to and from itself, by group ID and not by address."""
    if description is None:
        return failed(f"{requirements.security_group_id} does not exist", "Correct network.security_group_id")
    if description.get("VpcId") != requirements.vpc_id:
        return failed(
            f"it belongs to {description.get('VpcId')}; the subnet to {requirements.vpc_id}",
            "Use a group of that VPC",
        )
    both = (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress"))
    missing = [target for target, key in both if not _all_to_itself(description, key)]
    if not requirements.adds_efa_rules:
        if not missing:
            return passed("it has both rules that EFA needs")
        return failed(
            f"it has no {' and no '.join(missing)} rule for all traffic with itself; EFA does not accept CIDR rules",
            "Add the rules, or set add_efa_rules: true",
        )
    if len(missing) == len(both):
        return passed("the deployment adds both rules that EFA needs")
    return failed("it has a rule for EFA already, and EC2 rejects a duplicate", "Remove add_efa_rules")


def _all_to_itself(group: Description, key: str) -> bool:
    return any(
        rule.get("IpProtocol") == "-1"
        and any(pair.get("GroupId") == group["GroupId"] for pair in rule.get("UserIdGroupPairs", []))
        for rule in group.get(key, [])
    )


def _check(code: str, evaluate: Any, gather: Any, *calls: str) -> AnyCheck:
    return Check(
        code=code, calls=calls, subjects=_subnets, gather=gather, evaluate=evaluate, after=(_EXISTS,)
    )


_SUBNET: Final = "ec2:DescribeSubnets"
_ROUTE_CALLS: Final = ("ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints")

NETWORK_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_EXISTS,
        calls=(_SUBNET,),
        subjects=_subnets,
        gather=_find,
        evaluate=_evaluate_subnet,
        after=(REGION_IS_ENABLED,),
    ),
    _check("UC9436", _evaluate_addresses, _room, _SUBNET, "cloudformation:DescribeStacks"),
    _check("UC9437", _evaluate_private, _shown, _SUBNET),
    _check("UC9438", _evaluate_s3, _routes, *_ROUTE_CALLS),
    _check("UC9439", _evaluate_services, _routes, *_ROUTE_CALLS),
    _check("UC9440", _evaluate_dns, _dns, "ec2:DescribeVpcAttribute"),
    Check(
        code="UC9441",
        calls=("ec2:DescribeSecurityGroups",),
        subjects=_grouped,
        gather=_group,
        evaluate=_evaluate_group,
        after=(_EXISTS,),
    ),
)
