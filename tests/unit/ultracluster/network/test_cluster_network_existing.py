from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import IMAGE, ZONE, block, of_type, only, ultra_cluster

import ultracluster as uc
from ultracluster import Job
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

SUBNET = "subnet-0123456789abcdef0"
VPC = "vpc-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"


def existing(
    stack: cdk.Stack, *, vpc_id: str = VPC, subnet_id: str = SUBNET, **changes: Any
) -> uc.ClusterNetwork:
    given = {
        "vpc": ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id=vpc_id, availability_zones=["us-east-2c"]),
        "subnet": ec2.Subnet.from_subnet_id(stack, "Subnet", subnet_id),
        "zone_id": ZONE,
        "instance_type": "trn2.48xlarge",
        "node_count": 4,
    }
    return uc.ClusterNetwork.from_subnet(stack, "Network", **given | changes)


def given_group(stack: cdk.Stack) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(stack, "Group", GROUP)


def warnings(stack: cdk.Stack, code: str) -> list[Any]:
    return assertions.Annotations.from_stack(stack).find_warning(
        "*", assertions.Match.string_like_regexp(f".*{code}.*")
    )


def test_adds_a_security_group_to_the_existing_vpc_and_nothing_else(stack: cdk.Stack) -> None:
    existing(stack)
    resources = assertions.Template.from_stack(stack).to_json()["Resources"].values()
    assert sorted(each["Type"] for each in resources) == [
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
    ]
    assert only(stack, "AWS::EC2::SecurityGroup")["VpcId"] == VPC


def test_takes_the_subnet_of_a_vpc_of_the_same_app(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Own", max_azs=1)
    subnet = vpc.private_subnets[0]
    network = existing(stack, vpc=vpc, subnet=subnet)
    assert stack.resolve(network.subnet_id) == stack.resolve(subnet.subnet_id)


@pytest.mark.parametrize(
    ("azs", "selection", "problem", "proposed"),
    [
        ("c", None, "", ""),
        ("bc", None, "2 subnets are selected, in 'us-east-2b', 'us-east-2c'", '["us-east-2b"]'),
        (
            "bc",
            ec2.SubnetSelection(availability_zones=["us-east-2f"]),
            "0 subnets are selected",
            '["us-east-2b"]',
        ),
        (
            "bc",
            ec2.SubnetSelection(availability_zones=["us-east-2b", "us-east-2c"]),
            "2 subnets are selected",
            "subnets=[vpc.private_subnets[0]]",
        ),
        (
            "c",
            ec2.SubnetSelection(subnet_group_name="nodes"),
            "There are no subnet groups with name 'nodes'",
            '["us-east-2c"]',
        ),
        (
            "c",
            ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
            "the subnet is public",
            '["us-east-2c"]',
        ),
    ],
)
def test_a_selection_is_of_one_private_subnet_and_another_is_proposed(
    stack: cdk.Stack, azs: str, selection: ec2.SubnetSelection | None, problem: str, proposed: str
) -> None:
    vpc = ec2.Vpc(stack, "Own", availability_zones=[f"us-east-2{zone}" for zone in azs])
    if not problem:
        private = stack.resolve(vpc.private_subnets[0].subnet_id)
        assert stack.resolve(existing(stack, vpc=vpc, subnet=selection).subnet_id) == private
        return
    with pytest.raises(FindingsError) as refused:
        existing(stack, vpc=vpc, subnet=selection)
    assert str(refused.value).startswith(f"UC3113: Test/Network: subnet: {problem}")
    assert proposed in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_subnet_of_the_same_app_is_too_small_before_it_is_deployed(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(
        stack,
        "Own",
        max_azs=1,
        subnet_configuration=[
            ec2.SubnetConfiguration(name="Nodes", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=26)
        ],
    )
    with pytest.raises(FindingsError, match=r"UC3002.*need 136; got 59"):
        existing(stack, vpc=vpc, subnet=None)


def test_the_whole_cluster_is_in_the_specified_subnet_with_the_specified_group(stack: cdk.Stack) -> None:
    cluster = ultra_cluster(
        stack,
        capacity=block(),
        network=existing(stack, security_group=given_group(stack)),
    )
    cluster.add_multi_node_job("Pretrain", Job(image=IMAGE, command=("train.py",)))
    data = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert {tuple(each["Groups"]) for each in data["NetworkInterfaces"]} == {(GROUP,)}
    compute = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert compute["Subnets"] == [SUBNET]
    assert "SecurityGroupIds" not in compute
    assert only(stack, "AWS::FSx::FileSystem")["SubnetIds"] == [SUBNET]
    assert of_type(stack, "AWS::EC2::VPC") == []
    # The nodes' rules for Lustre go to the given group; the other ends are in the file system's own.
    assert [
        each
        for each in of_type(stack, "AWS::EC2::SecurityGroupIngress")
        if each["Properties"]["GroupId"] == GROUP
    ]


def test_warns_that_the_rules_of_an_existing_group_are_unknown(stack: cdk.Stack) -> None:
    existing(stack, security_group=given_group(stack))
    assert len(warnings(stack, "UC3106")) == 1
    assert of_type(stack, "AWS::EC2::SecurityGroupIngress") == []


def test_a_group_of_our_own_needs_no_warning(stack: cdk.Stack) -> None:
    existing(stack)
    assert warnings(stack, "UC3106") == []


def test_warns_that_the_default_group_of_tasks_is_not_known(stack: cdk.Stack) -> None:
    existing(stack)
    assert len(warnings(stack, "UC3208")) == 1


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        # Two addresses a node (one of its own, one of its task), and 128 for file systems.
        ({}, 136),
        ({"file_system_interfaces": 0}, 8),
        # 16 network cards with an address each, and the task.
        ({"nic_layout": "all-efa", "file_system_interfaces": 3}, 4 * 17 + 3),
    ],
)
def test_rejects_one_free_address_too_few(stack: cdk.Stack, changes: dict[str, Any], needed: int) -> None:
    with pytest.raises(FindingsError, match=f"UC3002.*need {needed}; got {needed - 1}"):
        existing(stack, available_addresses=needed - 1, **changes)
    assert stack.node.try_find_child("Network") is None
