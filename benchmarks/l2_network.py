"""Security groups and endpoints as L2 constructs."""

from collections.abc import Iterator
from typing import Any

from expressions import Attribute, Call, Static, Struct
from l2_call import new_construct

__all__ = ["interface_endpoint", "security_group", "security_group_rule"]

_NO_EGRESS = "Disallow all traffic"  # what the CDK adds to a group without a rule for what leaves it


def security_group(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    """Say a security group, with the rules that name addresses."""
    yield _vpc(cluster, place)
    yield new_construct(
        cluster,
        place,
        "ec2_.SecurityGroup",
        vpc=Static(f"vpc_of_{cluster.variable(place)}"),
        description=properties["GroupDescription"],
        allow_all_outbound=False,
    )
    for rule in properties.get("SecurityGroupEgress", []):
        if rule["Description"] != _NO_EGRESS:
            yield Call(
                f"{cluster.variable(place)}.add_egress_rule",
                [Call("ec2_.Peer.ipv4", [rule["CidrIp"]]), _port(rule), rule["Description"]],
            )


def _vpc(cluster: Any, place: tuple[str, str]) -> Call:
    (vpc,) = cluster.of_type("AWS::EC2::VPC")
    return Call(
        "ec2_.Vpc.from_vpc_attributes",
        [Static(cluster.stack(place)), f"Vpc of {place[1]}"],
        {"vpc_id": Attribute(cluster.variable(vpc), "ref"), "availability_zones": ["zone"]},
        variable=f"vpc_of_{cluster.variable(place)}",
    )


def _port(rule: dict[str, Any]) -> Call:
    if rule["IpProtocol"] == "-1":
        return Call("ec2_.Port.all_traffic", [])
    if rule["FromPort"] == rule["ToPort"]:
        return Call("ec2_.Port.tcp", [rule["FromPort"]])
    return Call("ec2_.Port.tcp_range", [rule["FromPort"], rule["ToPort"]])


def interface_endpoint(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    """Say an interface endpoint."""
    subnet = f"subnet_of_{cluster.variable(place)}"
    ((subnet_place,), (routes,)) = (cluster.of_type(f"AWS::EC2::{kind}") for kind in ("Subnet", "RouteTable"))
    yield _vpc(cluster, place)
    yield Call(
        "ec2_.Subnet.from_subnet_attributes",
        [Static(cluster.stack(place)), f"Subnet of {place[1]}"],
        {
            "subnet_id": Attribute(cluster.variable(subnet_place), "ref"),
            "availability_zone": "zone",
            "route_table_id": Attribute(cluster.variable(routes), "ref"),
        },
        variable=subnet,
    )
    selection = Struct("ec2_.SubnetSelection", {"subnets": [Static(subnet)]})
    vpc = Static(f"vpc_of_{cluster.variable(place)}")
    yield new_construct(
        cluster,
        place,
        "ec2_.InterfaceVpcEndpoint",
        vpc=vpc,
        service=Call("ec2_.InterfaceVpcEndpointService", [properties["ServiceName"], 443]),
        subnets=selection,
        security_groups=[Static(cluster.variable(each["of"])) for each in properties["SecurityGroupIds"]],
        private_dns_enabled=properties["PrivateDnsEnabled"],
        open=False,
    )


def security_group_rule(cluster: Any, place: tuple[str, str]) -> Iterator[Call] | None:
    """Say a rule between two groups as a call of one of them; None where that would say something else."""
    resource = cluster.resource(place)
    properties = resource["Properties"]
    inwards = resource["Type"].endswith("Ingress")
    if "DeletionPolicy" in resource:
        return None  # the method of a group returns no resource to retain
    group = properties["GroupId"]["of"]
    peer = properties["SourceSecurityGroupId" if inwards else "DestinationSecurityGroupId"]["of"]
    # The CDK adds a rule to the stack of its group; from another stack it would make the two depend on each other.
    if not (cluster.is_l2(group) and cluster.is_l2(peer) and group[0] == place[0]):
        return None
    if not inwards and _only_says_that_nothing_may_leave(cluster.resource(group)):
        return None  # the L2 would take that away
    method = "add_ingress_rule" if inwards else "add_egress_rule"
    arguments = [Static(cluster.variable(peer)), _port(properties), properties["Description"]]
    return iter([Call(f"{cluster.variable(group)}.{method}", arguments)])


def _only_says_that_nothing_may_leave(group: dict[str, Any]) -> bool:
    rules = group["Properties"].get("SecurityGroupEgress", [])
    return [rule["Description"] for rule in rules] == [_NO_EGRESS]
