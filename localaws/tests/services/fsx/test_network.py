"""The network of a file system: its subnet, and groups that let LNET traffic through."""

from typing import Any

import pytest
from tests.refusals import said

from ultracluster_local import LocalAws
from ultracluster_local.services.fsx.network import check_network, vpc_of
from ultracluster_local.services.handlers import Request

pytestmark = pytest.mark.slow

CLOSED = "do not permit Lustre LNET network traffic on port 988"


@pytest.fixture
def ec2(local_aws: LocalAws) -> Any:
    return local_aws.client("ec2")


@pytest.fixture
def vpc(ec2: Any) -> str:
    return str(ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"])


@pytest.fixture
def subnet(ec2: Any, vpc: str) -> str:
    return str(ec2.create_subnet(VpcId=vpc, CidrBlock="10.7.0.0/24")["Subnet"]["SubnetId"])


def request(*subnets: str, groups: tuple[str, ...] = ()) -> Request:
    parameters = {"SubnetIds": list(subnets), "SecurityGroupIds": list(groups)}
    return Request(operation="CreateFileSystem", parameters=parameters, region="us-east-1")


def group(ec2: Any, vpc: str, *rules: dict[str, Any], name: str = "g") -> str:
    made: str = ec2.create_security_group(GroupName=name, Description="g", VpcId=vpc)["GroupId"]
    for rule in rules:
        own = [{"GroupId": made}] if "IpRanges" not in rule else []
        pairs = rule.get("UserIdGroupPairs", own)
        ec2.authorize_security_group_ingress(GroupId=made, IpPermissions=[rule | {"UserIdGroupPairs": pairs}])
    return made


def test_a_file_system_has_one_subnet_that_exists(subnet: str, vpc: str) -> None:
    assert said(check_network, request(subnet)) == ""
    assert vpc_of(request(subnet)) == vpc
    assert "Exactly one subnet ID must be provided" in said(check_network, request(subnet, "subnet-0"))
    assert (
        said(check_network, request("subnet-0"))
        == "InvalidNetworkSettings: The subnet ID(s) 'subnet-0' do not exist."
    )
    assert vpc_of(request("subnet-0")) == ""


def test_groups_that_do_not_exist_are_named(subnet: str) -> None:
    assert "The security group ID(s) 'sg-0, sg-1' do not exist." in said(check_network, request(subnet, groups=("sg-1", "sg-0")))  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "admits"),
    [
        ({"IpProtocol": "-1"}, True),
        ({"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988}, True),
        ({"IpProtocol": "tcp", "FromPort": 0, "ToPort": 65_535}, True),
        (
            {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, "IpRanges": [{"CidrIp": "10.7.0.0/16"}]},
            True,
        ),
        (
            {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, "IpRanges": [{"CidrIp": "10.8.0.0/16"}]},
            False,
        ),
        ({"IpProtocol": "tcp", "FromPort": 1018, "ToPort": 1023}, False),
        ({"IpProtocol": "udp", "FromPort": 988, "ToPort": 988}, False),
    ],
)
def test_the_groups_admit_port_988_from_the_file_servers(
    ec2: Any, vpc: str, subnet: str, rule: dict[str, Any], *, admits: bool
) -> None:
    found = said(check_network, request(subnet, groups=(group(ec2, vpc, rule),)))

    assert (found == "") is admits
    assert admits or CLOSED in found


def test_two_groups_that_admit_each_other_let_traffic_through_together_only(
    ec2: Any, vpc: str, subnet: str
) -> None:
    first = group(ec2, vpc)
    second = group(ec2, vpc, {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": first}]}, name="h")

    assert said(check_network, request(subnet, groups=(first, second))) == ""
    assert CLOSED in said(check_network, request(subnet, groups=(second,)))


def test_the_default_group_of_a_vpc_admits_the_file_servers(ec2: Any, vpc: str, subnet: str) -> None:
    wanted = [{"Name": "vpc-id", "Values": [vpc]}, {"Name": "group-name", "Values": ["default"]}]
    (default,) = ec2.describe_security_groups(Filters=wanted)["SecurityGroups"]

    assert said(check_network, request(subnet, groups=(default["GroupId"],))) == ""
