"""Checks of an existing subnet: its place, its room, its ways to AWS services, and its security group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_runtime.preflight.check import AnyCheck, Check, Outcome, failed, passed, warned
from ultracluster_runtime.preflight.quotas import is_deployed
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import RolloutRequirements, SubnetRequirements

__all__ = ["NETWORK_CHECKS", "Ways"]

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
    """Whether the subnet is where the rollout says."""
    if description is None:
        return failed(f"{requirements.region} shows this account no {requirements.subnet_id}", "Correct network.subnet_id")
    wrong = []
    if description["AvailabilityZoneId"] != requirements.zone_id:
        wrong.append(f"it is in {description['AvailabilityZoneId']}; the capacity in {requirements.zone_id}")
    if description["VpcId"] != requirements.vpc_id:
        wrong.append(f"it is of {description['VpcId']}; the rollout says {requirements.vpc_id}")
    if description.get("State", "available") != "available":
        wrong.append(f"it is {description['State']}")
    if wrong:
        return failed("; ".join(wrong), f"Take a subnet of {requirements.vpc_id} in {requirements.zone_id}")
    return passed(f"it is in {requirements.zone_id} and of {requirements.vpc_id}")


def _room(reader: AwsReader, requirements: SubnetRequirements) -> tuple[int, bool]:
    free = int(_shown(reader, requirements).get("AvailableIpAddressCount", 0))
    return free, is_deployed(reader, requirements.region, requirements.stack)


def _evaluate_addresses(requirements: SubnetRequirements, evidence: tuple[int, bool]) -> Outcome:
    """Whether the subnet has an address for everything of the cluster."""
    free, deployed = evidence
    usage = f"{free:,} addresses are free; the cluster takes {requirements.addresses:,}"
    if free >= requirements.addresses:
        return passed(usage)
    remedy = "Use a larger subnet, fewer nodes, or the layout batch, which takes one address a node"
    if deployed:
        return warned(f"{usage}, and it is deployed, so that some of what is taken may be its own", remedy)
    return failed(usage, remedy)


def _evaluate_private(_: SubnetRequirements, description: Description) -> Outcome:
    """Whether nodes with several interfaces can be launched into it: EC2 refuses public addresses beside them."""
    if description.get("MapPublicIpOnLaunch"):
        return failed(
            "it assigns public addresses, which EC2 refuses for nodes with several interfaces",
            "Use a private subnet, or switch it off: `aws ec2 modify-subnet-attribute --no-map-public-ip-on-launch`",
        )
    return passed("it assigns no public addresses")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ways:
    """The ways out of a subnet.

    Attributes:
        default: What its route to anywhere leads to, such as ``nat-0123456789abcdef0``. None without one.
        gateways: Services with a gateway endpoint in its route table, such as ``s3``.
        endpoints: Services with an interface endpoint in its VPC that answers to the service's own name.
        unnamed: Services with one that does not: its private DNS is off.
    """

    default: str | None
    gateways: frozenset[str]
    endpoints: frozenset[str]
    unnamed: frozenset[str]


def _ways(reader: AwsReader, requirements: SubnetRequirements) -> Ways:
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
    return Ways(
        default=_default_route(table),
        gateways=frozenset(gateways),
        endpoints=frozenset(named[True]),
        unnamed=frozenset(named[False] - named[True]),
    )


def _table_of(subnet_id: str, tables: list[Any]) -> Description:
    """The route table of a subnet: that of the VPC, unless it has one of its own."""
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
            ways = (
                "NatGatewayId",
                "TransitGatewayId",
                "NetworkInterfaceId",
                "VpcPeeringConnectionId",
                "GatewayId",
            )
            return next((str(route[way]) for way in ways if route.get(way)), None)
    return None


def _leads_out(way: str | None) -> bool:
    """Whether nodes without public addresses get anywhere by this route: not by an internet gateway."""
    return way is not None and not way.startswith("igw-")


def _evaluate_s3(_: SubnetRequirements, ways: Ways) -> Outcome:
    """Whether nodes reach S3, where image layers, checkpoints and compiled graphs are."""
    if "s3" in ways.gateways:
        return passed("its route table has the gateway endpoint of S3")
    if "s3" in ways.endpoints:
        return warned(
            "S3 is reached through an interface endpoint, which is paid by the GB",
            "Add the gateway endpoint of S3, which costs nothing, to its route table",
        )
    if _leads_out(ways.default):
        return warned(
            f"S3 is reached through {ways.default}; a NAT gateway is paid by the GB",
            "Add the gateway endpoint of S3, which costs nothing, to its route table",
        )
    return failed("nothing leads to S3", "Add the gateway endpoint of S3 to its route table")


def _evaluate_services(requirements: SubnetRequirements, ways: Ways) -> Outcome:
    """Whether nodes reach the services that they need to boot, to join and to log."""
    missing = [service for service in requirements.services if service not in ways.endpoints]
    if not missing:
        return passed(f"its VPC has endpoints of all {len(requirements.services)} services")
    if _leads_out(ways.default):
        return passed(f"{', '.join(missing)} are reached through {ways.default}")
    unnamed = [service for service in missing if service in ways.unnamed]
    hint = f"; without private DNS: {', '.join(unnamed)}" if unnamed else ""
    via = (
        f" (its route to anywhere is {ways.default}, of no use without public addresses)"
        if ways.default
        else ""
    )
    return failed(
        f"nothing leads to {', '.join(missing)}{hint}{via}",
        "Add a NAT gateway, or interface endpoints with private DNS that let the nodes in",
    )


def _dns(reader: AwsReader, requirements: SubnetRequirements) -> dict[str, bool]:
    return {
        name: bool(
            reader.call("ec2", requirements.region, "DescribeVpcAttribute", VpcId=requirements.vpc_id, Attribute=attribute)[
                member
            ]["Value"]
        )
        for name, attribute, member in (
            ("DNS support", "enableDnsSupport", "EnableDnsSupport"),
            ("DNS hostnames", "enableDnsHostnames", "EnableDnsHostnames"),
        )
    }


def _evaluate_dns(requirements: SubnetRequirements, settings: dict[str, bool]) -> Outcome:
    """Whether names of endpoints and of the file system are resolved in the VPC."""
    off = [name for name, on in settings.items() if not on]
    if not off:
        return passed(f"{' and '.join(settings)} are on in {requirements.vpc_id}")
    return failed(
        f"{' and '.join(off)} off in {requirements.vpc_id}",
        "Switch both on: `aws ec2 modify-vpc-attribute`; endpoints and file systems are found by name",
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
    """Whether the group lets EFA through: all traffic to and from itself, named by its id, not by addresses."""
    if description is None:
        return failed(f"there is no {requirements.security_group_id}", "Correct network.security_group_id")
    if description.get("VpcId") != requirements.vpc_id:
        return failed(
            f"it is of {description.get('VpcId')}; the subnet of {requirements.vpc_id}", "Take a group of that VPC"
        )
    both = (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress"))
    missing = [way for way, key in both if not _all_to_itself(description, key)]
    if not requirements.adds_efa_rules:
        if not missing:
            return passed("it has both rules that EFA needs")
        return failed(
            f"it has no {' and no '.join(missing)} rule for all traffic with itself; a rule for addresses does not count",
            "Add the rules, or set add_efa_rules: true",
        )
    if len(missing) == len(both):
        return passed("the deployment adds both rules that EFA needs")
    return failed("it has a rule for EFA already, which EC2 refuses to add again", "Take out add_efa_rules")


def _all_to_itself(group: Description, key: str) -> bool:
    return any(
        rule.get("IpProtocol") == "-1"
        and any(pair.get("GroupId") == group["GroupId"] for pair in rule.get("UserIdGroupPairs", []))
        for rule in group.get(key, [])
    )


def _check(code: str, evaluate: Any, gather: Any, *calls: str) -> AnyCheck:
    return Check(code=code, calls=calls, subjects=_subnets, gather=gather, evaluate=evaluate, after=(_EXISTS,))


_SUBNET: Final = "ec2:DescribeSubnets"
_WAYS: Final = ("ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints")

NETWORK_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_EXISTS,
        calls=(_SUBNET,),
        subjects=_subnets,
        gather=_find,
        evaluate=_evaluate_subnet,
        after=("UC9404",),
    ),
    _check("UC9436", _evaluate_addresses, _room, _SUBNET, "cloudformation:DescribeStacks"),
    _check("UC9437", _evaluate_private, _shown, _SUBNET),
    _check("UC9438", _evaluate_s3, _ways, *_WAYS),
    _check("UC9439", _evaluate_services, _ways, *_WAYS),
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
