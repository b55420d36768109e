"""What is in use is not deleted."""

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
def group(ec2: Any, vpc: str) -> str:
    return str(ec2.create_security_group(GroupName="g", Description="g", VpcId=vpc)["GroupId"])


def in_use(call: Any, **parameters: Any) -> bool:
    return refusal(call, **parameters)[0] == "DependencyViolation"


def test_a_group_stays_while_an_interface_has_it(ec2: Any, subnet: str, group: str) -> None:
    interface = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]
    assert in_use(ec2.delete_security_group, GroupId=group)

    ec2.delete_network_interface(NetworkInterfaceId=interface["NetworkInterfaceId"])
    ec2.delete_security_group(GroupId=group)


def test_a_group_stays_while_another_group_refers_to_it(ec2: Any, vpc: str, group: str) -> None:
    other = ec2.create_security_group(GroupName="other", Description="o", VpcId=vpc)["GroupId"]
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=other, IpPermissions=rule)
    assert in_use(ec2.delete_security_group, GroupId=group)

    ec2.revoke_security_group_ingress(GroupId=other, IpPermissions=rule)
    ec2.delete_security_group(GroupId=group)


def test_a_group_that_only_refers_to_itself_is_deleted(ec2: Any, group: str) -> None:
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=rule)

    ec2.delete_security_group(GroupId=group)


def test_the_default_group_of_a_vpc_stays(ec2: Any, vpc: str) -> None:
    wanted = [{"Name": "vpc-id", "Values": [vpc]}, {"Name": "group-name", "Values": ["default"]}]
    (default,) = ec2.describe_security_groups(Filters=wanted)["SecurityGroups"]

    assert refusal(ec2.delete_security_group, GroupId=default["GroupId"])[0] == "CannotDelete"


def test_a_subnet_stays_while_something_is_in_it(ec2: Any, subnet: str) -> None:
    interface = ec2.create_network_interface(SubnetId=subnet)["NetworkInterface"]["NetworkInterfaceId"]
    assert in_use(ec2.delete_subnet, SubnetId=subnet)
    ec2.delete_network_interface(NetworkInterfaceId=interface)

    private = ec2.create_nat_gateway(SubnetId=subnet, ConnectivityType="private")["NatGateway"][
        "NatGatewayId"
    ]
    assert in_use(ec2.delete_subnet, SubnetId=subnet)
    ec2.delete_nat_gateway(NatGatewayId=private)

    ec2.delete_subnet(SubnetId=subnet)


def test_a_vpc_stays_while_it_has_subnets_groups_or_gateways(
    ec2: Any, vpc: str, subnet: str, group: str
) -> None:
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    assert in_use(ec2.delete_vpc, VpcId=vpc)
    assert in_use(ec2.delete_internet_gateway, InternetGatewayId=gateway)
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.delete_internet_gateway(InternetGatewayId=gateway)

    assert in_use(ec2.delete_vpc, VpcId=vpc)
    ec2.delete_subnet(SubnetId=subnet)
    assert refusal(ec2.delete_vpc, VpcId=vpc)[1] == f"The vpc '{vpc}' has dependencies and cannot be deleted."
    ec2.delete_security_group(GroupId=group)

    ec2.delete_vpc(VpcId=vpc)


def test_a_gateway_stays_while_an_interface_has_a_public_address(ec2: Any, vpc: str, subnet: str) -> None:
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    interface = ec2.create_network_interface(SubnetId=subnet)["NetworkInterface"]["NetworkInterfaceId"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    used = ec2.associate_address(AllocationId=address, NetworkInterfaceId=interface)["AssociationId"]

    assert in_use(ec2.detach_internet_gateway, InternetGatewayId=gateway, VpcId=vpc)
    ec2.disassociate_address(AssociationId=used)
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)


def test_a_gateway_and_an_address_stay_while_a_nat_gateway_uses_them(ec2: Any, vpc: str, subnet: str) -> None:
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    address = ec2.allocate_address(Domain="vpc")
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address["AllocationId"])["NatGateway"]

    code, message = refusal(ec2.detach_internet_gateway, InternetGatewayId=gateway, VpcId=vpc)
    assert (code, "mapped public address(es)" in message) == ("DependencyViolation", True)
    assert refusal(ec2.release_address, AllocationId=address["AllocationId"]) == (
        "InvalidIPAddress.InUse",
        f"Address {address['PublicIp']} is in use.",
    )

    ec2.delete_nat_gateway(NatGatewayId=nat["NatGatewayId"])
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.release_address(AllocationId=address["AllocationId"])


def test_an_address_stays_while_an_interface_has_it(ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.5.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.5.0.0/24")["Subnet"]["SubnetId"]
    interface = ec2.create_network_interface(SubnetId=subnet)["NetworkInterface"]["NetworkInterfaceId"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    held = ec2.associate_address(AllocationId=address, NetworkInterfaceId=interface)["AssociationId"]

    assert refusal(ec2.release_address, AllocationId=address)[0] == "InvalidIPAddress.InUse"
    ec2.disassociate_address(AssociationId=held)
    ec2.release_address(AllocationId=address)


def test_a_table_keeps_its_local_route_and_the_main_one_its_place(ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.5.0.0/16")["Vpc"]["VpcId"]
    of_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
    (table,) = ec2.describe_route_tables(Filters=of_vpc)["RouteTables"]
    local = {"RouteTableId": table["RouteTableId"], "DestinationCidrBlock": "10.5.0.0/16"}
    main = table["Associations"][0]["RouteTableAssociationId"]

    words = f"cannot remove local route 10.5.0.0/16 in route table {table['RouteTableId']}"
    assert refusal(ec2.delete_route, **local) == ("InvalidParameterValue", words)
    assert refusal(ec2.delete_route_table, RouteTableId=table["RouteTableId"])[0] == "DependencyViolation"
    assert refusal(ec2.disassociate_route_table, AssociationId=main) == (
        "InvalidParameterValue",
        f"cannot disassociate the main route table association {main}",
    )
