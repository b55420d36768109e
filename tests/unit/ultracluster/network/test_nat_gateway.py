import ipaddress
import json

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import ZONE, network, of_type, only

pytestmark = pytest.mark.slow


def cidrs(stack: cdk.Stack) -> list[str]:
    return sorted(each["Properties"]["CidrBlock"] for each in of_type(stack, "AWS::EC2::Subnet"))


def test_nodes_leave_through_a_gateway_in_their_own_zone(stack: cdk.Stack) -> None:
    private = stack.resolve(network(stack, nat_gateway=True).subnet_id)
    subnets = of_type(stack, "AWS::EC2::Subnet")
    assert {each["Properties"]["AvailabilityZoneId"] for each in subnets} == {ZONE}
    assert not any(each["Properties"]["MapPublicIpOnLaunch"] for each in subnets)
    assert only(stack, "AWS::EC2::NatGateway")["SubnetId"] != private
    associations = [each["Properties"] for each in of_type(stack, "AWS::EC2::SubnetRouteTableAssociation")]
    table = {json.dumps(each["SubnetId"]): each["RouteTableId"] for each in associations}[json.dumps(private)]
    routes = [each["Properties"] for each in of_type(stack, "AWS::EC2::Route")]
    (out,) = [each for each in routes if each["RouteTableId"] == table]
    assert out["DestinationCidrBlock"] == "0.0.0.0/0"
    assert "NatGatewayId" in out


def test_the_gateway_waits_for_its_way_to_the_internet(stack: cdk.Stack) -> None:
    network(stack, nat_gateway=True)
    (gateway,) = of_type(stack, "AWS::EC2::NatGateway")
    (address,) = of_type(stack, "AWS::EC2::EIP")
    assert any("PublicRoute" in each for each in gateway["DependsOn"])
    assert any("InternetGatewayAttachment" in each for each in address["DependsOn"])


def test_a_small_vpc_is_halved(stack: cdk.Stack) -> None:
    # 5 + 9 + 128 + 2 x 4 addresses are 150: a /24, so that a /23 has room for both.
    network(stack, nat_gateway=True, cidr="10.0.0.0/23")
    nodes, public = map(ipaddress.ip_network, cidrs(stack))
    assert (str(nodes), str(public)) == ("10.0.0.0/24", "10.0.1.240/28")
