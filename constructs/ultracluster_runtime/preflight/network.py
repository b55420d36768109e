"""Checks of existing subnets: location, free addresses, routes to AWS services, and security group."""

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_runtime.preflight.check import ZONE_IS_VISIBLE, Outcome, check, failed, passed, warned
from ultracluster_runtime.preflight.quotas import is_deployed
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Part
from ultracluster_runtime.preflight.zones import zones_of
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.network import addresses_of_existing_subnet
from ultracluster_spec.record import RuleRecord

Description = Mapping[str, Any]

_EXISTS: Final = "UC9435"
_ANYWHERE: Final = "0.0.0.0/0"
_HTTPS: Final = 443
_TARGETS: Final = (
    "NatGatewayId",
    "TransitGatewayId",
    "NetworkInterfaceId",
    "VpcPeeringConnectionId",
    "GatewayId",
)


def _subnets(account: Account) -> Iterator[Part]:
    """Yield the subnets that exist before the deployment."""
    for cluster in account.clusters:
        if (subnet_id := cluster.network.subnet_id) is not None:
            yield Part(cluster=cluster, name=subnet_id)


_subnet_check: Final = partial(check, subjects=_subnets, after=(_EXISTS,))


def _find_subnet(reader: AwsReader, subnet: Part) -> Description | None:
    return reader.find(
        "ec2:DescribeSubnets",
        subnet.region,
        "Subnets",
        absent=("InvalidSubnetID.NotFound",),
        SubnetIds=[subnet.name],
    )


def _shown(reader: AwsReader, subnet: Part) -> Description:
    return _find_subnet(reader, subnet) or {}


@check(_EXISTS, _find_subnet, subjects=_subnets)
def _check_subnet(subnet: Part, description: Description | None) -> Outcome:
    if description is None:
        return failed(
            f"{subnet.region} has no {subnet.name} in this account",
            "Correct network.subnet_id",
        )
    wrong = []
    if description["AvailabilityZoneId"] != subnet.cluster.zone_id:
        wrong.append(
            f"it is in {description['AvailabilityZoneId']}; the capacity is in {subnet.cluster.zone_id}"
        )
    if description["VpcId"] != subnet.cluster.network.vpc_id:
        wrong.append(
            f"it belongs to {description['VpcId']}; the rollout says {subnet.cluster.network.vpc_id}"
        )
    if description.get("State", "available") != "available":
        wrong.append(f"it is {description['State']}")
    if wrong:
        return failed(
            "; ".join(wrong), f"Use a subnet of {subnet.cluster.network.vpc_id} in {subnet.cluster.zone_id}"
        )
    return passed(f"it is in {subnet.cluster.zone_id} and belongs to {subnet.cluster.network.vpc_id}")


def _room(reader: AwsReader, subnet: Part) -> tuple[int, bool]:
    free = int(_shown(reader, subnet).get("AvailableIpAddressCount", 0))
    return free, is_deployed(reader, subnet.region, subnet.cluster.stacks[2])


@_subnet_check("UC9436", _room)
def _check_addresses(subnet: Part, evidence: tuple[int, bool]) -> Outcome:
    free, deployed = evidence
    cluster = subnet.cluster
    needed = addresses_of_existing_subnet(
        instance_type=cluster.node_type,
        nodes=cluster.most_nodes,
        nic_layout=cluster.network.layout,
        file_system_interfaces=cluster.file_system.subnet_addresses,
    )
    usage = f"{free:,} addresses are free; the cluster needs {needed:,}"
    if free >= needed:
        return passed(usage)
    remedy = "Use a larger subnet, fewer nodes, or the layout batch, which uses one address per node"
    if deployed:
        return warned(f"{usage}; it is deployed, so some of the used addresses may be its own", remedy)
    return failed(usage, remedy)


@_subnet_check("UC9437", _shown)
def _check_private(_: Part, description: Description) -> Outcome:
    """Check that the subnet assigns no public addresses: EC2 rejects them for instances with several interfaces."""
    if description.get("MapPublicIpOnLaunch"):
        return failed(
            "it assigns public addresses, which EC2 rejects for nodes with several interfaces",
            "Use a private subnet, or disable them: `aws ec2 modify-subnet-attribute --no-map-public-ip-on-launch`",
        )
    return passed("it assigns no public addresses")


@dataclass(frozen=True, kw_only=True, slots=True)
class Routes:
    """Routes from a subnet to AWS services."""

    default: str | None  # target of its default route, such as nat-0123456789abcdef0
    gateways: frozenset[str]  # services with a gateway endpoint in its route table, such as s3
    endpoints: frozenset[str]  # services with an interface endpoint in its VPC and private DNS enabled
    # Services that only have interface endpoints with private DNS disabled
    without_private_dns: frozenset[str]


def _in_vpc(reader: AwsReader, subnet: Part, call: str, key: str) -> list[Any]:
    """Return the items that a call lists in the VPC of a subnet."""
    filters = [{"Name": "vpc-id", "Values": [subnet.cluster.network.vpc_id]}]
    return reader.list_all(call, subnet.region, key, Filters=filters)


def _routes(reader: AwsReader, subnet: Part) -> Routes:
    tables = _in_vpc(reader, subnet, "ec2:DescribeRouteTables", "RouteTables")
    table = _table_of(subnet.name, tables)
    gateways: set[str] = set()
    interfaces: dict[bool, set[str]] = {
        True: set(),
        False: set(),
    }  # services by whether private DNS is enabled
    for service, endpoint in _endpoints(reader, subnet):
        if endpoint.get("State", "available").lower() != "available":
            continue
        if endpoint.get("VpcEndpointType") == "Interface":
            interfaces[bool(endpoint.get("PrivateDnsEnabled"))].add(service)
        elif table.get("RouteTableId") in endpoint.get("RouteTableIds", []):
            gateways.add(service)
    return Routes(
        default=_default_route(table),
        gateways=frozenset(gateways),
        endpoints=frozenset(interfaces[True]),
        without_private_dns=frozenset(interfaces[False] - interfaces[True]),
    )


def _endpoints(reader: AwsReader, subnet: Part) -> Iterator[tuple[str, Description]]:
    """Yield the endpoints in the VPC of a subnet, each with the name of its service, such as ecr.api."""
    for endpoint in _in_vpc(reader, subnet, "ec2:DescribeVpcEndpoints", "VpcEndpoints"):
        yield endpoint["ServiceName"].removeprefix(f"com.amazonaws.{subnet.region}."), endpoint


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
            return next((str(route[target]) for target in _TARGETS if route.get(target)), None)
    return None


def _has_egress(target: str | None) -> bool:
    """Return whether a route serves nodes without public addresses; an internet gateway does not."""
    return target is not None and not target.startswith("igw-")


@_subnet_check("UC9438", _routes)
def _check_s3(_: Part, routes: Routes) -> Outcome:
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


@_subnet_check("UC9439", _routes)
def _check_services(_: Part, routes: Routes) -> Outcome:
    missing = [service for service in NODE_SERVICES if service not in routes.endpoints]
    if not missing:
        return passed(f"its VPC has endpoints for all {len(NODE_SERVICES)} services")
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


def _dns(reader: AwsReader, subnet: Part) -> dict[str, bool]:
    settings = {}
    for name, attribute in (("DNS support", "DnsSupport"), ("DNS hostnames", "DnsHostnames")):
        request = {"VpcId": subnet.cluster.network.vpc_id, "Attribute": f"enable{attribute}"}
        response = reader.call("ec2:DescribeVpcAttribute", subnet.region, **request)
        settings[name] = bool(response[f"Enable{attribute}"]["Value"])
    return settings


@_subnet_check("UC9440", _dns)
def _check_dns(subnet: Part, settings: dict[str, bool]) -> Outcome:
    off = [name for name, on in settings.items() if not on]
    if not off:
        return passed(f"{' and '.join(settings)} are enabled in {subnet.cluster.network.vpc_id}")
    return failed(
        f"{' and '.join(off)} disabled in {subnet.cluster.network.vpc_id}",
        "Enable both: `aws ec2 modify-vpc-attribute`; endpoints and file systems are resolved by name",
    )


def _all_to_itself(group: Description, key: str) -> bool:
    return any(
        rule.get("IpProtocol") == "-1"
        and any(pair.get("GroupId") == group["GroupId"] for pair in rule.get("UserIdGroupPairs", []))
        for rule in group.get(key, [])
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskNetwork:
    """Security group and endpoints of the network interfaces of multi-node tasks in an existing VPC."""

    group: Description | None  # default security group of the VPC; None if it cannot be read
    # Services whose interface endpoints do not let that group in on port 443
    closed_endpoints: tuple[str, ...]


def _task_network(reader: AwsReader, subnet: Part) -> TaskNetwork:
    groups = {
        group["GroupId"]: group
        for group in _in_vpc(reader, subnet, "ec2:DescribeSecurityGroups", "SecurityGroups")
    }
    default = next((group for group in groups.values() if group.get("GroupName") == "default"), None)
    if default is None:
        return TaskNetwork(group=None, closed_endpoints=())
    block = ipaddress.IPv4Network(_shown(reader, subnet).get("CidrBlock", _ANYWHERE))
    closed = {
        service
        for service, endpoint in _endpoints(reader, subnet)
        if endpoint.get("VpcEndpointType") == "Interface"
        and not any(
            _lets_in(groups.get(group["GroupId"], {}), default["GroupId"], block)
            # An endpoint without security groups has the default one (EC2 API Reference, CreateVpcEndpoint).
            for group in endpoint.get("Groups") or [default]
        )
    }
    return TaskNetwork(group=default, closed_endpoints=tuple(sorted(closed & set(NODE_SERVICES))))


def _lets_in(group: Description, source_id: str, block: ipaddress.IPv4Network) -> bool:
    """Return whether a group admits another one, or all addresses of a subnet, to port 443."""
    for rule in group.get("IpPermissions", []):
        groups = {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs", [])}
        ranges = [ipaddress.IPv4Network(item["CidrIp"], strict=False) for item in rule.get("IpRanges", [])]
        if covers_ports(rule, _HTTPS, _HTTPS) and (source_id in groups or any(map(block.subnet_of, ranges))):
            return True
    return False


def covers_ports(rule: Description, low: int, high: int) -> bool:
    """Return whether a rule of a security group covers a range of TCP ports."""
    if rule.get("IpProtocol") == "-1":
        return True
    return rule.get("IpProtocol") == "tcp" and rule.get("FromPort", 0) <= low <= high <= rule.get("ToPort", 0)


@_subnet_check("UC9458", _task_network)
def _check_task_network(subnet: Part, network: TaskNetwork) -> Outcome:
    """Check the group that AWS Batch gives to the network interfaces of multi-node tasks: the VPC's default group."""
    group = network.group
    if group is None:
        return failed(
            f"{subnet.cluster.network.vpc_id} shows no default group", "Allow ec2:DescribeSecurityGroups"
        )
    name = group["GroupId"]
    if subnet.cluster.network.default_security_group_id not in {None, name}:
        return failed(
            f"the default group of {subnet.cluster.network.vpc_id} is {name}; the rollout says {subnet.cluster.network.default_security_group_id}",
            "Correct network.default_security_group_id",
        )
    out = group.get("IpPermissionsEgress", [])
    anywhere = [
        rule for rule in out if any(item.get("CidrIp") == _ANYWHERE for item in rule.get("IpRanges", []))
    ]
    has = {
        "all traffic in from itself": _all_to_itself(group, "IpPermissions"),
        "all traffic out to itself": _all_to_itself(group, "IpPermissionsEgress")
        or any(rule.get("IpProtocol") == "-1" for rule in anywhere),
        "HTTPS out": any(covers_ports(rule, _HTTPS, _HTTPS) for rule in anywhere),
    }
    missing = [rule for rule, present in has.items() if not present]
    mends = subnet.cluster.network.default_security_group_id is not None
    if mends and len(missing) < len(has):
        return failed(
            f"{name} has some of the rules for tasks already, and EC2 rejects a duplicate",
            f"Remove default_security_group_id, and add manually: {', '.join(missing) or 'nothing'}",
        )
    problems = [] if mends or not missing else [f"{name}, the default group, lacks {', '.join(missing)}"]
    if network.closed_endpoints:
        problems.append(f"endpoints do not let it in on port 443: {', '.join(network.closed_endpoints)}")
    if problems:
        return failed(
            "; ".join(problems),
            "Set network.default_security_group_id, which adds the rules of the group; endpoints are yours to change"
            if len(missing) == len(has) and not mends
            else "Add these rules to the groups",
        )
    return passed(f"tasks of multi-node jobs reach each other and AWS with {name}")


def _endpoint_zones(reader: AwsReader, cluster: Cluster) -> dict[str, bool]:
    """Return whether each service that needs an interface endpoint has one in the zone of the cluster."""
    zone = zones_of(reader, cluster.region).get(cluster.zone_id, {}).get("ZoneName")
    names = {f"com.amazonaws.{cluster.region}.{service}": service for service in NODE_SERVICES}
    # Called without service names, because EC2 refuses a request that names an unknown service (InvalidServiceName).
    details = reader.list_all("ec2:DescribeVpcEndpointServices", cluster.region, "ServiceDetails")
    offered = {
        names[detail["ServiceName"]]: zone in detail.get("AvailabilityZones", [])
        for detail in details
        if detail["ServiceName"] in names
        and any(kind["ServiceType"] == "Interface" for kind in detail["ServiceType"])
    }
    return {service: offered.get(service, False) for service in NODE_SERVICES}


@check(
    "UC9459",
    _endpoint_zones,
    subjects=lambda account: (cluster for cluster in account.clusters if cluster.network.subnet_id is None),
    after=(ZONE_IS_VISIBLE,),
)
def _check_endpoint_zones(cluster: Cluster, offered: dict[str, bool]) -> Outcome:
    missing = [service for service, is_offered in offered.items() if not is_offered]
    if not missing:
        return passed(f"all {len(offered)} endpoint services are in {cluster.zone_id}")
    return failed(
        f"{cluster.zone_id} has no endpoint service for {', '.join(missing)}",
        "Use another zone, or an existing VPC with a NAT gateway (vpc_id and subnet_id)",
    )


def _find_group(reader: AwsReader, subnet: Part) -> Description | None:
    return reader.find(
        "ec2:DescribeSecurityGroups",
        subnet.region,
        "SecurityGroups",
        absent=("InvalidGroup.NotFound", "InvalidGroupId.Malformed"),
        GroupIds=[subnet.cluster.network.security_group_id],
    )


@check(
    "UC9441",
    _find_group,
    subjects=lambda account: (
        subnet for subnet in _subnets(account) if subnet.cluster.network.security_group_id
    ),
    after=(_EXISTS,),
)
def _check_group(subnet: Part, description: Description | None) -> Outcome:
    """Check that the group allows EFA: all traffic to and from itself, by group ID and not by address."""
    if description is None:
        return failed(
            f"{subnet.cluster.network.security_group_id} does not exist", "Correct network.security_group_id"
        )
    if description.get("VpcId") != subnet.cluster.network.vpc_id:
        return failed(
            f"it belongs to {description.get('VpcId')}; the subnet to {subnet.cluster.network.vpc_id}",
            "Use a group of that VPC",
        )
    both = (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress"))
    missing = [target for target, key in both if not _all_to_itself(description, key)]
    if not subnet.cluster.network.add_efa_rules:
        if not missing:
            return passed("it has both rules that EFA needs")
        return failed(
            f"it has no {' and no '.join(missing)} rule for all traffic with itself; EFA does not accept CIDR rules",
            "Add the rules, or set add_efa_rules: true",
        )
    if len(missing) == len(both):
        return passed("the deployment adds both rules that EFA needs")
    return failed("it has a rule for EFA already, and EC2 rejects a duplicate", "Remove add_efa_rules")


RECORDS: Final = (
    RuleRecord(
        "UC9435",
        "The existing subnet is in its VPC and in the zone of the cluster.",
        remedy="Use a subnet of the VPC in the zone of the capacity.",
        source="botocore 1.44.5, EC2 DescribeSubnets, 2026.",
    ),
    RuleRecord(
        "UC9436",
        "The existing subnet has enough free addresses for the cluster.",
        remedy="Use a larger subnet, fewer nodes, or the layout batch.",
        source="Amazon VPC user guide; EC2 user guide, EFA, 2026-10.",
    ),
    RuleRecord(
        "UC9437",
        "The existing subnet assigns no public addresses.",
        remedy="Use a private subnet, or switch it off with `aws ec2 modify-subnet-attribute --no-map-public-ip-on-launch`.",
        source="EC2 user guide, multiple network interfaces, 2026-10: no public address beside them.",
    ),
    RuleRecord(
        "UC9438",
        "Nodes in the existing subnet can reach S3.",
        remedy="Add the gateway endpoint of S3, which costs nothing, to its route table.",
        source="Amazon VPC user guide, gateway endpoints.",
    ),
    RuleRecord(
        "UC9439",
        "Nodes in the existing subnet can reach the services that they need.",
        remedy="Add a NAT gateway, or interface endpoints with private DNS that allow the nodes, for the services in the finding.",
        source="Our decision: the services of ultracluster_catalog.places.cluster_subnet.NODE_SERVICES.",
    ),
    RuleRecord(
        "UC9440",
        "The existing VPC resolves DNS names.",
        remedy="Enable both with `aws ec2 modify-vpc-attribute`.",
        source="Amazon VPC user guide, DNS attributes.",
    ),
    RuleRecord(
        "UC9441",
        "The existing security group allows EFA traffic.",
        remedy="Add both rules, or set `add_efa_rules: true`.",
        source="EC2 user guide, get started with EFA, 2026-10.",
    ),
    RuleRecord(
        "UC9458",
        "The default security group of an existing VPC allows tasks of multi-node jobs to reach each other and AWS.",
        remedy="Set `network.default_security_group_id`, which adds the rules, or exempt the VPC from the process that removes them.",
        source="AWS Batch user guide, multi-node parallel jobs: a task takes the default group of the VPC.",
    ),
    RuleRecord(
        "UC9459",
        "The zone of a new VPC has every service that nodes reach through interface endpoints.",
        remedy="Use another zone, or an existing VPC with a NAT gateway.",
        source="botocore 1.44.5, EC2 DescribeVpcEndpointServices; terraform-aws-modules/terraform-aws-vpc 785.",
    ),
)
