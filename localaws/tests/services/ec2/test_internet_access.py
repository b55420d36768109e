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


def test_a_route_leads_to_a_nat_gateway_that_exists(ec2: Any, vpc: str) -> None:
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    route = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}

    assert refusal(ec2.create_route, **route, NatGatewayId="nat-2d")[0] == "InvalidNatGatewayID.NotFound"
    assert refusal(ec2.describe_nat_gateways, NatGatewayIds=["nat-2d"]) == (
        "NatGatewayNotFound",
        "NatGateway nat-2d was not found",
    )


def test_an_associated_address_moves_unless_that_is_forbidden(ec2: Any, subnet: str) -> None:
    one, other = (
        ec2.create_network_interface(SubnetId=subnet)["NetworkInterface"]["NetworkInterfaceId"]
        for _ in range(2)
    )
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    first = ec2.associate_address(AllocationId=address, NetworkInterfaceId=one)["AssociationId"]
    again = {"AllocationId": address, "NetworkInterfaceId": other}

    assert refusal(ec2.associate_address, **again, AllowReassociation=False) == (
        "Resource.AlreadyAssociated",
        f"resource {address} is already associated with associate-id {first}",
    )
    assert ec2.associate_address(**again, AllowReassociation=True)["AssociationId"]


def test_dns_host_names_need_dns_support(ec2: Any, vpc: str) -> None:
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsSupport={"Value": False})

    wanted = {"VpcId": vpc, "EnableDnsHostnames": {"Value": True}}
    assert refusal(ec2.modify_vpc_attribute, **wanted)[0] == "InvalidParameterCombination"


def test_a_subnet_is_in_a_zone_of_its_region(ec2: Any, vpc: str) -> None:
    wanted = {"VpcId": vpc, "CidrBlock": "10.7.9.5/24", "AvailabilityZone": "eu-west-1a"}
    words = refusal(ec2.create_subnet, **wanted)[1]

    assert "can currently only be created in the following availability zones: us-" in words
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.7.9.5/24")["Subnet"]
    assert made["CidrBlock"] == "10.7.9.0/24"


def test_an_interface_has_groups_that_exist(ec2: Any, subnet: str) -> None:
    assert refusal(ec2.create_network_interface, SubnetId=subnet, Groups=["sg-2d"]) == (
        "InvalidSecurityGroupID.NotFound",
        "The securityGroup ID 'sg-2d' does not exist",
    )
