"""Checks of an existing subnet: its place, its room, its ways to AWS services, and its security group."""

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
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import RolloutNeeds, SubnetNeeds

__all__ = ["NETWORK_CHECKS", "Ways"]

Shown = Mapping[str, Any]

_EXISTS: Final = "UC9435"
_ANYWHERE: Final = "0.0.0.0/0"


def _subnets(rollout: RolloutNeeds) -> Iterator[SubnetNeeds]:
    yield from (cluster.subnet for cluster in rollout.clusters if cluster.subnet is not None)


def _grouped(rollout: RolloutNeeds) -> Iterator[SubnetNeeds]:
    yield from (subnet for subnet in _subnets(rollout) if subnet.security_group_id is not None)


def _find(reads: Reads, needs: SubnetNeeds) -> Shown | None:
    answer = reads.find(
        "ec2",
        needs.region,
        "DescribeSubnets",
        absent=("InvalidSubnetID.NotFound",),
        SubnetIds=[needs.subnet_id],
    )
    return answer["Subnets"][0] if answer and answer["Subnets"] else None


def _shown(reads: Reads, needs: SubnetNeeds) -> Shown:
    return _find(reads, needs) or {}


def _judge_subnet(needs: SubnetNeeds, shown: Shown | None) -> Outcome:
    """Whether the subnet is where the rollout says."""
    if shown is None:
        return failed(f"{needs.region} shows this account no {needs.subnet_id}", "Correct network.subnet_id")
    wrong = []
    if shown["AvailabilityZoneId"] != needs.zone_id:
        wrong.append(f"it is in {shown['AvailabilityZoneId']}; the capacity in {needs.zone_id}")
    if shown["VpcId"] != needs.vpc_id:
        wrong.append(f"it is of {shown['VpcId']}; the rollout says {needs.vpc_id}")
    if shown.get("State", "available") != "available":
        wrong.append(f"it is {shown['State']}")
    if wrong:
        return failed("; ".join(wrong), f"Take a subnet of {needs.vpc_id} in {needs.zone_id}")
    return passed(f"it is in {needs.zone_id} and of {needs.vpc_id}")


def _room(reads: Reads, needs: SubnetNeeds) -> tuple[int, bool]:
    free = int(_shown(reads, needs).get("AvailableIpAddressCount", 0))
    return free, is_deployed(reads, needs.region, needs.stack)


def _judge_addresses(needs: SubnetNeeds, seen: tuple[int, bool]) -> Outcome:
    """Whether the subnet has an address for everything of the cluster."""
    free, deployed = seen
    said = f"{free:,} addresses are free; the cluster takes {needs.addresses:,}"
    if free >= needs.addresses:
        return passed(said)
    remedy = "Use a larger subnet, fewer nodes, or the layout batch, which takes one address a node"
    if deployed:
        return warned(f"{said}, and it is deployed, so that some of what is taken may be its own", remedy)
    return failed(said, remedy)


def _judge_private(_: SubnetNeeds, shown: Shown) -> Outcome:
    """Whether nodes with several interfaces can be launched into it: EC2 refuses public addresses beside them."""
    if shown.get("MapPublicIpOnLaunch"):
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


def _ways(reads: Reads, needs: SubnetNeeds) -> Ways:
    tables = reads.every(
        "ec2",
        needs.region,
        "DescribeRouteTables",
        "RouteTables",
        Filters=[{"Name": "vpc-id", "Values": [needs.vpc_id]}],
    )
    table = _table_of(needs.subnet_id, tables)
    endpoints = reads.every(
        "ec2",
        needs.region,
        "DescribeVpcEndpoints",
        "VpcEndpoints",
        Filters=[{"Name": "vpc-id", "Values": [needs.vpc_id]}],
    )
    usable = [one for one in endpoints if one.get("State", "available").lower() == "available"]
    start = f"com.amazonaws.{needs.region}."
    gateways = {
        one["ServiceName"].removeprefix(start)
        for one in usable
        if one.get("VpcEndpointType") == "Gateway"
        and table.get("RouteTableId") in one.get("RouteTableIds", [])
    }
    named: dict[bool, set[str]] = {True: set(), False: set()}
    for one in usable:
        if one.get("VpcEndpointType") == "Interface":
            named[bool(one.get("PrivateDnsEnabled"))].add(one["ServiceName"].removeprefix(start))
    return Ways(
        default=_default_route(table),
        gateways=frozenset(gateways),
        endpoints=frozenset(named[True]),
        unnamed=frozenset(named[False] - named[True]),
    )


def _table_of(subnet_id: str, tables: list[Any]) -> Shown:
    """The route table of a subnet: that of the VPC, unless it has one of its own."""
    main: Shown = {}
    for table in tables:
        for association in table.get("Associations", []):
            if association.get("SubnetId") == subnet_id:
                return dict(table)
            if association.get("Main"):
                main = table
    return main


def _default_route(table: Shown) -> str | None:
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


def _judge_s3(_: SubnetNeeds, ways: Ways) -> Outcome:
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


def _judge_services(needs: SubnetNeeds, ways: Ways) -> Outcome:
    """Whether nodes reach the services that they need to boot, to join and to log."""
    missing = [service for service in needs.services if service not in ways.endpoints]
    if not missing:
        return passed(f"its VPC has endpoints of all {len(needs.services)} services")
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


def _dns(reads: Reads, needs: SubnetNeeds) -> dict[str, bool]:
    return {
        name: bool(
            reads.ask("ec2", needs.region, "DescribeVpcAttribute", VpcId=needs.vpc_id, Attribute=attribute)[
                member
            ]["Value"]
        )
        for name, attribute, member in (
            ("DNS support", "enableDnsSupport", "EnableDnsSupport"),
            ("DNS hostnames", "enableDnsHostnames", "EnableDnsHostnames"),
        )
    }


def _judge_dns(needs: SubnetNeeds, settings: dict[str, bool]) -> Outcome:
    """Whether names of endpoints and of the file system are resolved in the VPC."""
    off = [name for name, on in settings.items() if not on]
    if not off:
        return passed(f"{' and '.join(settings)} are on in {needs.vpc_id}")
    return failed(
        f"{' and '.join(off)} off in {needs.vpc_id}",
        "Switch both on: `aws ec2 modify-vpc-attribute`; endpoints and file systems are found by name",
    )


def _group(reads: Reads, needs: SubnetNeeds) -> Shown | None:
    answer = reads.find(
        "ec2",
        needs.region,
        "DescribeSecurityGroups",
        absent=("InvalidGroup.NotFound", "InvalidGroupId.Malformed"),
        GroupIds=[needs.security_group_id],
    )
    return answer["SecurityGroups"][0] if answer and answer["SecurityGroups"] else None


def _judge_group(needs: SubnetNeeds, shown: Shown | None) -> Outcome:
    """Whether the group lets EFA through: all traffic to and from itself, named by its id, not by addresses."""
    if shown is None:
        return failed(f"there is no {needs.security_group_id}", "Correct network.security_group_id")
    if shown.get("VpcId") != needs.vpc_id:
        return failed(
            f"it is of {shown.get('VpcId')}; the subnet of {needs.vpc_id}", "Take a group of that VPC"
        )
    both = (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress"))
    missing = [way for way, key in both if not _all_to_itself(shown, key)]
    if not needs.adds_efa_rules:
        if not missing:
            return passed("it has both rules that EFA needs")
        return failed(
            f"it has no {' and no '.join(missing)} rule for all traffic with itself; a rule for addresses does not count",
            "Add the rules, or set add_efa_rules: true",
        )
    if len(missing) == len(both):
        return passed("the deployment adds both rules that EFA needs")
    return failed("it has a rule for EFA already, which EC2 refuses to add again", "Take out add_efa_rules")


def _all_to_itself(group: Shown, key: str) -> bool:
    return any(
        rule.get("IpProtocol") == "-1"
        and any(pair.get("GroupId") == group["GroupId"] for pair in rule.get("UserIdGroupPairs", []))
        for rule in group.get(key, [])
    )


def _check(code: str, judge: Any, gather: Any, *calls: str) -> AnyCheck:
    return Check(code=code, calls=calls, subjects=_subnets, gather=gather, judge=judge, after=(_EXISTS,))


_SUBNET: Final = "ec2:DescribeSubnets"
_WAYS: Final = ("ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints")

NETWORK_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_EXISTS,
        calls=(_SUBNET,),
        subjects=_subnets,
        gather=_find,
        judge=_judge_subnet,
        after=(REGION_IS_ENABLED,),
    ),
    _check("UC9436", _judge_addresses, _room, _SUBNET, "cloudformation:DescribeStacks"),
    _check("UC9437", _judge_private, _shown, _SUBNET),
    _check("UC9438", _judge_s3, _ways, *_WAYS),
    _check("UC9439", _judge_services, _ways, *_WAYS),
    _check("UC9440", _judge_dns, _dns, "ec2:DescribeVpcAttribute"),
    Check(
        code="UC9441",
        calls=("ec2:DescribeSecurityGroups",),
        subjects=_grouped,
        gather=_group,
        judge=_judge_group,
        after=(_EXISTS,),
    ),
)
