"""What a Region's network has, as it is described and as checks look at it."""

from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.ec2.capacity_calls import REGION

from ultracluster_local.services.ec2 import networks

pytestmark = pytest.mark.slow


@pytest.fixture
def vpc(ec2: Any) -> str:
    return str(ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"])


@pytest.fixture
def subnet(ec2: Any, vpc: str) -> str:
    return str(ec2.create_subnet(VpcId=vpc, CidrBlock="10.7.0.0/24")["Subnet"]["SubnetId"])


def nat_gateway(ec2: Any, vpc: str, subnet: str) -> str:
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    return str(ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"])


def test_a_group_is_in_the_network_that_it_was_created_in(ec2: Any, vpc: str) -> None:
    group = ec2.create_security_group(GroupName="g", Description="g", VpcId=vpc)["GroupId"]

    assert networks.network_of(REGION, group) == vpc
    assert networks.network_of(REGION, "sg-0") is None
    assert networks.network_of("us-west-2", group) is None


def test_subnets_of_all_zones_are_found_by_their_ids(subnet: str, vpc: str) -> None:
    assert networks.subnets(REGION)[subnet].vpc_id == vpc
    assert len({one.availability_zone for one in networks.subnets(REGION).values()}) > 1


def test_deleted_nat_gateways_and_their_interfaces_are_gone(ec2: Any, vpc: str, subnet: str) -> None:
    gateway = nat_gateway(ec2, vpc, subnet)
    assert [one.id for one in networks.nat_gateways(REGION)] == [gateway]
    assert any(one.subnet.id == subnet for one in networks.interfaces(REGION))

    ec2.delete_nat_gateway(NatGatewayId=gateway)

    assert networks.nat_gateways(REGION) == []
    assert not any(one.subnet.id == subnet for one in networks.interfaces(REGION))


def test_deleted_endpoints_and_terminated_instances_are_gone(ec2: Any, vpc: str) -> None:
    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", VpcEndpointType="Gateway"
    )["VpcEndpoint"]["VpcEndpointId"]
    image = ec2.register_image(Name="nodes", RootDeviceName="/dev/sda1")["ImageId"]
    (instance,) = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"]
    assert [one.id for one in networks.endpoints(REGION)] == [endpoint]
    assert [one.id for one in networks.instances(REGION)] == [instance["InstanceId"]]

    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
    ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])

    assert networks.endpoints(REGION) == []
    assert list(networks.instances(REGION)) == []


def test_interfaces_and_endpoints_use_the_groups_that_they_were_created_with(
    ec2: Any, vpc: str, subnet: str
) -> None:
    groups = [
        ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"] for name in "ab"
    ]
    interface = ec2.create_network_interface(SubnetId=subnet, Groups=groups[:1])["NetworkInterface"]
    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName=f"com.amazonaws.{REGION}.ssm",
        VpcEndpointType="Interface",
        SubnetIds=[subnet],
        SecurityGroupIds=groups[1:],
    )["VpcEndpoint"]

    users = dict(networks.users_of_groups(REGION))

    assert users[interface["NetworkInterfaceId"]] == {groups[0]}
    assert users[endpoint["VpcEndpointId"]] == {groups[1]}


def test_interfaces_of_all_network_cards_go_with_their_instance(ec2: Any, subnet: str) -> None:
    image = ec2.register_image(Name="nodes", RootDeviceName="/dev/sda1")["ImageId"]
    cards = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": min(card, 1),
            "SubnetId": subnet,
            "DeleteOnTermination": True,
        }
        for card in range(4)
    ]
    (instance,) = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, NetworkInterfaces=cards)[
        "Instances"
    ]
    assert sum(one.subnet.id == subnet for one in networks.interfaces(REGION)) == 4

    ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])

    assert not any(one.subnet.id == subnet for one in networks.interfaces(REGION))


def test_a_vpc_has_its_block_in_canonical_form(ec2: Any) -> None:
    """API_CreateVpc, CidrBlock, with this example."""
    assert ec2.create_vpc(CidrBlock="100.68.0.18/18")["Vpc"]["CidrBlock"] == "100.68.0.0/18"


def test_an_address_is_of_amazons_pool(ec2: Any) -> None:
    """aws-cli, examples of allocate-address and describe-addresses."""
    made = ec2.allocate_address(Domain="vpc", PublicIpv4Pool="amazon")
    (shown,) = ec2.describe_addresses(AllocationIds=[made["AllocationId"]])["Addresses"]

    assert (made["PublicIpv4Pool"], shown["PublicIpv4Pool"]) == ("amazon", "amazon")
    assert refusal(ec2.allocate_address, PublicIpv4Pool="ipv4pool-ec2-1")[0] == "UnsupportedOperation"
