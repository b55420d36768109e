"""Rows of which constructs, templates and plans take care."""

import copy
from collections.abc import Callable
from email import message_from_string
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import (
    IMAGE_ID,
    RESERVATION,
    ZONE,
    network,
    new_stack,
    nodes,
    of_type,
    unpacked,
)

import ultracluster as uc
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.plan import StackTemplate, check_headroom, compare

pytestmark = pytest.mark.slow

TYPE = "trn2.48xlarge"


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    """A whole cluster, to look at."""
    stack = new_stack()
    uc.UltraCluster(stack, "Cluster", instance_type=TYPE, node_count=4, image_id=IMAGE_ID, zone_id=ZONE)
    return stack


@pytest.fixture(scope="module")
def template(stack: cdk.Stack) -> dict[str, Any]:
    return dict(assertions.Template.from_stack(stack).to_json())


def refused(make: Callable[[cdk.Stack], object]) -> list[str]:
    with pytest.raises(FindingsError) as error:
        make(new_stack())
    return [finding.code for finding in error.value.findings]


def of_size(*, resources: int = 1, outputs: int = 0, size: int = 100) -> StackTemplate:
    return StackTemplate(
        cluster="a",
        name="a",
        region="us-east-2",
        size_bytes=size,
        template={
            "Resources": {f"R{number}": {"Type": "AWS::SNS::Topic"} for number in range(resources)},
            "Outputs": {f"O{number}": {"Value": ""} for number in range(outputs)},
        },
    )


@pytest.mark.parametrize(("resources", "codes"), [(501, ["UC9650"]), (500, ["UC9651"]), (399, [])])
def test_row_33_more_resources_than_a_stack_takes(resources: int, codes: list[str]) -> None:
    assert [each.code for each in check_headroom([of_size(resources=resources)])] == codes


def test_row_34_more_outputs_than_a_stack_takes() -> None:
    assert [each.code for each in check_headroom([of_size(outputs=201)])] == ["UC9650"]


def test_row_35_a_template_that_is_too_large() -> None:
    assert [each.code for each in check_headroom([of_size(size=1_000_001)])] == ["UC9650"]


@pytest.mark.parametrize("changes", [{"cidr": "10.0.0.0/24", "subnet_prefix": 23}, {"cidr": "10.0.0.0/28"}])
def test_row_42_a_subnet_that_is_outside_its_vpc(changes: dict[str, Any]) -> None:
    assert refused(lambda stack: network(stack, **changes)) == ["UC3105"]


def test_row_46_no_node_gets_a_public_address(stack: cdk.Stack) -> None:
    (launch_template,) = of_type(stack, "AWS::EC2::LaunchTemplate")
    interfaces = launch_template["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
    assert len(interfaces) == 16
    assert not [each for each in interfaces if each.get("AssociatePublicIpAddress")]
    (subnet,) = of_type(stack, "AWS::EC2::Subnet")
    assert subnet["Properties"]["MapPublicIpOnLaunch"] is False


def test_row_47_nodes_without_a_way_out_have_endpoints(stack: cdk.Stack) -> None:
    assert of_type(stack, "AWS::EC2::NatGateway") == []
    endpoints = {
        each["Properties"]["ServiceName"].removeprefix("com.amazonaws.us-east-2.")
        for each in of_type(stack, "AWS::EC2::VPCEndpoint")
    }
    # Amazon ECS Developer Guide, "Interface VPC endpoints"; those of Systems Manager, and the gateway of S3.
    ecs = {"ecs", "ecs-agent", "ecs-telemetry", "ecr.api", "ecr.dkr"}
    assert endpoints == {*ecs, "logs", "monitoring", "ssm", "ssmmessages", "s3"}


def test_row_48_a_group_without_the_rules_of_efa_is_pointed_out() -> None:
    stack = new_stack()
    uc.ClusterNetwork.from_subnet(
        stack,
        "Network",
        vpc=ec2.Vpc.from_vpc_attributes(
            stack, "Vpc", vpc_id="vpc-01234567", availability_zones=["us-east-2c"]
        ),
        subnet=ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-01234567"),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-01234567"),
        zone_id=ZONE,
        instance_type=TYPE,
        node_count=4,
    )
    found = assertions.Annotations.from_stack(stack).find_warning(
        "*", assertions.Match.string_like_regexp(".*UC3106.*")
    )
    assert len(found) == 1


def test_row_49_nothing_lets_the_world_in(template: dict[str, Any]) -> None:
    rules = [
        rule
        for each in template["Resources"].values()
        for rule in (
            each.get("Properties", {}).get("SecurityGroupIngress", [])
            if each["Type"] == "AWS::EC2::SecurityGroup"
            else [each["Properties"]]
            if each["Type"] == "AWS::EC2::SecurityGroupIngress"
            else []
        )
    ]
    assert len(rules) > 2
    assert not [rule for rule in rules if rule.get("CidrIp") == "0.0.0.0/0" or "CidrIpv6" in rule]


def test_row_50_clients_of_a_file_system_are_groups_and_no_networks(template: dict[str, Any]) -> None:
    """FSx is opened to the security group of the nodes, in whose subnet it stands, and to no CIDR."""
    file_systems = [each for each in template["Resources"].values() if each["Type"] == "AWS::FSx::FileSystem"]
    subnets = [name for name, each in template["Resources"].items() if each["Type"] == "AWS::EC2::Subnet"]
    assert [each["Properties"]["SubnetIds"] for each in file_systems] == [[{"Ref": subnets[0]}]]
    rules = [
        each["Properties"]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::EC2::SecurityGroupIngress"
    ]
    assert all("SourceSecurityGroupId" in rule for rule in rules)


def test_row_59_a_block_and_on_demand_nodes_in_one_place_have_names() -> None:
    sources = [
        uc.CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE),
        uc.OnDemand(),
    ]
    assert refused(
        lambda stack: uc.UltraCluster(
            stack, "Cluster", instance_type=TYPE, node_count=4, image_id=IMAGE_ID, capacity=sources
        )
    ) == ["UC4121"]


def test_row_61_a_compute_environment_has_one_type_for_any_strategy_to_choose(stack: cdk.Stack) -> None:
    (environment,) = of_type(stack, "AWS::Batch::ComputeEnvironment")
    resources = environment["Properties"]["ComputeResources"]
    assert resources["InstanceTypes"] == [TYPE]


def test_row_72_user_data_is_ours_mime_and_small(stack: cdk.Stack) -> None:
    """Nobody can give user data, so that none can be wrong; ours is as AWS Batch demands."""
    (launch_template,) = of_type(stack, "AWS::EC2::LaunchTemplate")
    encoded = launch_template["Properties"]["LaunchTemplateData"]["UserData"]["Fn::Base64"]
    text = encoded if isinstance(encoded, str) else "".join(map(str, encoded["Fn::Join"][1]))
    assert message_from_string(text).get_content_type() == "multipart/mixed"
    assert len(text) < 16 * 1024
    assert "ECS_CLUSTER" not in unpacked(text)


@pytest.mark.parametrize("size", [0, -1, 29, 65_537])
def test_row_73_a_root_volume_that_cannot_be(size: int) -> None:
    assert refused(lambda stack: nodes(stack, root_volume_gib=size)) == ["UC2252"]


def test_row_73_a_root_volume_is_encrypted_and_within_what_gp3_does() -> None:
    stack = new_stack()
    nodes(stack, root_volume_gib=30)
    (launch_template,) = of_type(stack, "AWS::EC2::LaunchTemplate")
    (device,) = launch_template["Properties"]["LaunchTemplateData"]["BlockDeviceMappings"]
    assert device["Ebs"]["Encrypted"] is True
    assert device["Ebs"]["Iops"] <= 500 * device["Ebs"]["VolumeSize"]
    assert device["Ebs"]["Throughput"] <= device["Ebs"]["Iops"] / 4


def test_row_76_clients_that_cannot_use_efa() -> None:
    assert "UC5027" in refused(
        lambda stack: uc.SharedFileSystem(stack, "Files", network=network(stack), efa_clients=TYPE)
    )


def test_row_80_checkpoints_outlive_their_cluster(template: dict[str, Any]) -> None:
    """There is no switch for it in rollout files; what is stateful is kept."""
    kept = [
        each
        for each in template["Resources"].values()
        if each["Type"] in {"AWS::S3::Bucket", "AWS::FSx::FileSystem"}
    ]
    assert len(kept) >= 3
    assert {(each["DeletionPolicy"], each["UpdateReplacePolicy"]) for each in kept} == {("Retain", "Retain")}


@pytest.mark.parametrize(
    ("resource_type", "edit", "kind"),
    [
        (
            "AWS::FSx::FileSystem",
            lambda p: p["LustreConfiguration"].update(DeploymentType="SCRATCH_2"),
            "data",
        ),
        ("AWS::FSx::FileSystem", lambda p: p.update(KmsKeyId="arn:aws:kms:us-east-2:1:key/x"), "data"),
        ("AWS::EC2::VPC", lambda p: p.update(CidrBlock="10.9.0.0/16"), "network"),
        ("AWS::EC2::Subnet", lambda p: p.update(AvailabilityZoneId="use2-az1"), "network"),
        ("AWS::S3::Bucket", lambda p: p.update(BucketName="another-name"), "data"),
    ],
)
def test_row_88_an_edit_that_would_lose_data_stops_the_plan(
    template: dict[str, Any], resource_type: str, edit: Callable[[Any], None], kind: str
) -> None:
    before = StackTemplate(cluster="a", name="a", region="us-east-2", template=template)
    after = StackTemplate(cluster="a", name="a", region="us-east-2", template=copy.deepcopy(template))
    (changed, *_) = [each for each in after.resources.values() if each["Type"] == resource_type]
    edit(changed.setdefault("Properties", {}))

    assert list(compare([before], [before]).stops()) == []
    assert kind in {stop.kind.value for stop in compare([before], [after]).stops()}
