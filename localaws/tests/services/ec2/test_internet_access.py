"""NAT gateways and routes to the internet."""

from typing import Any

import pytest
from tests.refusals import refusal

pytestmark = pytest.mark.slow


@pytest.fixture
def vpc(ec2: Any) -> str:
    return str(ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"])


@pytest.fixture
def subnet(ec2: Any, vpc: str) -> str:
    return str(ec2.create_subnet(VpcId=vpc, CidrBlock="10.7.0.0/24")["Subnet"]["SubnetId"])


@pytest.fixture
def gateway(ec2: Any) -> str:
    return str(ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"])


def test_a_public_nat_gateway_needs_an_address_and_an_internet_gateway(
    ec2: Any, vpc: str, subnet: str, gateway: str
) -> None:
    assert refusal(ec2.create_nat_gateway, SubnetId=subnet)[0] == "MissingParameter"
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    assert refusal(ec2.create_nat_gateway, SubnetId=subnet, AllocationId=address) == (
        "Gateway.NotAttached",
        f"Network {vpc} has no Internet gateway attached",
    )

    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)


def test_a_private_nat_gateway_has_no_address_and_needs_no_internet_gateway(ec2: Any, subnet: str) -> None:
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    private = {"SubnetId": subnet, "ConnectivityType": "private"}

    assert (
        refusal(ec2.create_nat_gateway, **private, AllocationId=address)[0] == "InvalidParameterCombination"
    )
    ec2.create_nat_gateway(**private)


def test_a_route_leads_to_the_internet_gateway_of_the_same_vpc(ec2: Any, vpc: str, gateway: str) -> None:
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    route = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": gateway}
    assert refusal(ec2.create_route, **route) == (
        "InvalidParameterValue",
        f"route table {table} and network gateway {gateway} belong to different networks",
    )

    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.create_route(**route)
