import ipaddress
import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.cfn_lint import lint
from tests.unit.ultracluster.builders import REGION, ZONE, network, of_type, only

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly
from ultracluster_rules.findings import FindingsError

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


def test_the_nodes_subnet_stays_where_it_is(stack: cdk.Stack) -> None:
    network(stack, nat_gateway=True)
    assert cidrs(stack) == ["10.0.0.0/20", "10.0.255.240/28"]


def test_a_small_vpc_is_halved(stack: cdk.Stack) -> None:
    # 5 + 9 + 128 + 2 x 4 addresses are 150: a /24, so that a /23 has room for both.
    network(stack, nat_gateway=True, cidr="10.0.0.0/23")
    nodes, public = map(ipaddress.ip_network, cidrs(stack))
    assert (str(nodes), str(public)) == ("10.0.0.0/24", "10.0.1.240/28")


@pytest.mark.parametrize(("cidr", "prefix"), [("10.0.0.0/24", None), ("10.0.0.0/23", 23)])
def test_rejects_a_vpc_without_room_for_the_public_subnet(
    stack: cdk.Stack, cidr: str, prefix: int | None
) -> None:
    with pytest.raises(FindingsError, match="UC3105"):
        network(stack, nat_gateway=True, cidr=cidr, subnet_prefix=prefix)


@pytest.mark.slow
def test_is_clean_deploys_and_goes_again(local_aws: LocalAws, tmp_path: Path) -> None:
    app = cdk.App(
        analytics_reporting=False, outdir=str(tmp_path / "cdk.out"), tree_metadata=False, stack_traces=False
    )
    network(cdk.Stack(app, "Nat", env=cdk.Environment(region=REGION)), nat_gateway=True)
    directory = Path(app.synth().directory)
    template = (directory / "Nat.template.json").read_text()
    assert [str(match) for match in lint(template, regions=[REGION])] == []
    (deployed,) = deploy_assembly(local_aws, directory)
    assert (deployed.status, deployed.reason) == ("CREATE_COMPLETE", "")
    client = local_aws.client("ec2", REGION)
    assert [each["State"] for each in client.describe_nat_gateways()["NatGateways"]] == ["available"]
    (gone,) = destroy_assembly(local_aws, directory)
    assert gone.status == "DELETE_COMPLETE"
    assert client.describe_addresses()["Addresses"] == []
