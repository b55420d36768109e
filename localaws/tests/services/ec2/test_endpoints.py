"""VPC endpoints: their type, subnets, groups and private DNS."""

from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.ec2.capacity_calls import REGION

pytestmark = pytest.mark.slow

S3 = f"com.amazonaws.{REGION}.s3"
SSM = f"com.amazonaws.{REGION}.ssm"
DNS = {"EnableDnsSupport": {"Value": True}}, {"EnableDnsHostnames": {"Value": True}}


@pytest.fixture
def vpc(ec2: Any) -> str:
    vpc: str = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    for setting in DNS:
        ec2.modify_vpc_attribute(VpcId=vpc, **setting)
    return vpc


@pytest.fixture
def subnets(ec2: Any, vpc: str) -> list[str]:
    """Return two subnets of one zone and one of another."""
    return [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.7.{number}.0/24", AvailabilityZone=f"{REGION}{zone}")["Subnet"]["SubnetId"]
        for number, zone in enumerate("aab")
    ]  # fmt: skip


def interface(ec2: Any, vpc: str, subnets: list[str], **more: Any) -> dict[str, Any]:
    given = {"VpcId": vpc, "ServiceName": SSM, "VpcEndpointType": "Interface", "SubnetIds": subnets}
    made: dict[str, Any] = ec2.create_vpc_endpoint(**given | more)["VpcEndpoint"]
    return made


def test_only_s3_and_dynamodb_have_gateway_endpoints(ec2: Any, vpc: str) -> None:
    for service in ("s3", "dynamodb"):
        ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.{service}")

    code, message = refusal(ec2.create_vpc_endpoint, VpcId=vpc, ServiceName=SSM)
    assert (code, "(Gateway) does not match available service types ([Interface])" in message) == ("InvalidParameter", True)  # fmt: skip


@pytest.mark.parametrize("more", [{"SubnetIds": ["subnet-1"]}, {"SecurityGroupIds": ["sg-1"]}])
def test_a_gateway_endpoint_has_neither_subnets_nor_groups(ec2: Any, vpc: str, more: dict[str, Any]) -> None:
    message = refusal(ec2.create_vpc_endpoint, VpcId=vpc, ServiceName=S3, **more)[1]

    assert message == f"{next(iter(more))} cannot be specified for a Gateway endpoint"


def test_a_route_table_has_one_gateway_endpoint_of_a_service(ec2: Any, vpc: str) -> None:
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=S3, RouteTableIds=[table])

    code, message = refusal(ec2.create_vpc_endpoint, VpcId=vpc, ServiceName=S3, RouteTableIds=[table])

    assert (code, table in message) == ("RouteAlreadyExists", True)


def test_an_interface_endpoint_has_one_subnet_in_each_zone(ec2: Any, vpc: str, subnets: list[str]) -> None:
    given = {"VpcId": vpc, "ServiceName": SSM, "VpcEndpointType": "Interface"}
    assert refusal(ec2.create_vpc_endpoint, **given, SubnetIds=subnets[:2])[0] == "DuplicateSubnetsInSameZone"

    endpoint = interface(ec2, vpc, subnets[1:])["VpcEndpointId"]

    added = refusal(ec2.modify_vpc_endpoint, VpcEndpointId=endpoint, AddSubnetIds=subnets[:1])
    assert added[0] == "DuplicateSubnetsInSameZone"
    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, RemoveSubnetIds=subnets[1:2], AddSubnetIds=subnets[:1])


def test_subnets_and_groups_exist_in_the_vpc_of_the_endpoint(ec2: Any, vpc: str, subnets: list[str]) -> None:
    other = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=other, CidrBlock="10.8.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="g", Description="g", VpcId=other)["GroupId"]
    given = {"VpcId": vpc, "ServiceName": SSM, "VpcEndpointType": "Interface", "SubnetIds": subnets[:1]}

    for more, code in (
        ({"SubnetIds": ["subnet-0"]}, "InvalidSubnetId.NotFound"),
        ({"SubnetIds": [subnet]}, "InvalidParameter"),
        ({"SecurityGroupIds": ["sg-0"]}, "InvalidGroup.NotFound"),
        ({"SecurityGroupIds": [group]}, "InvalidParameter"),
    ):
        assert refusal(ec2.create_vpc_endpoint, **given | more)[0] == code


def test_private_dns_needs_dns_in_the_vpc_and_one_endpoint_of_the_service(
    ec2: Any, vpc: str, subnets: list[str]
) -> None:
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": False})
    given = {"VpcId": vpc, "ServiceName": SSM, "VpcEndpointType": "Interface", "PrivateDnsEnabled": True}
    assert (
        "requires both enableDnsSupport and enableDnsHostnames"
        in refusal(ec2.create_vpc_endpoint, **given)[1]
    )

    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    interface(ec2, vpc, subnets[:1], PrivateDnsEnabled=True)

    assert (
        f"conflicting DNS domain for ssm.{REGION}.amazonaws.com"
        in refusal(ec2.create_vpc_endpoint, **given)[1]
    )


def test_an_interface_endpoint_has_the_default_group_unless_it_names_others(ec2: Any) -> None:
    vpc = ec2.create_vpc(CidrBlock="10.6.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.6.0.0/24")["Subnet"]["SubnetId"]
    service = {"ServiceName": "com.amazonaws.us-east-1.ec2", "VpcEndpointType": "Interface"}

    made = ec2.create_vpc_endpoint(VpcId=vpc, **service, SubnetIds=[subnet], PrivateDnsEnabled=False)
    assert [one["GroupName"] for one in made["VpcEndpoint"]["Groups"]] == ["default"]
