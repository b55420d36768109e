import json

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, network, nodes, of_type, only, ultra_cluster

import ultracluster as uc
from ultracluster.network.cluster_network import check_zone
from ultracluster_catalog.machines.nic_layouts import NetworkInterface, addresses_per_node
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

# VPC endpoints that AWS's guides demand of ECS container instances without a way out: Amazon ECS and Amazon ECR
# Developer Guides (VPC endpoints), CloudWatch Logs, Systems Manager (Session Manager); read 2026-10.
REQUIRED = {
    "ecr.api",
    "ecr.dkr",
    "ecs",
    "ecs-agent",
    "ecs-telemetry",
    "logs",
    "monitoring",
    "ssm",
    "ssmmessages",
}


@pytest.mark.parametrize("way_out", ["InternetGateway", "NatGateway", "EgressOnlyInternetGateway", "Route"])
def test_has_no_way_out(stack: cdk.Stack, way_out: str) -> None:
    network(stack)
    assert of_type(stack, f"AWS::EC2::{way_out}") == []


def test_reaches_every_service_that_a_node_needs_by_an_endpoint(stack: cdk.Stack) -> None:
    network(stack)
    endpoints = [resource["Properties"] for resource in of_type(stack, "AWS::EC2::VPCEndpoint")]
    interface = {each["ServiceName"] for each in endpoints if each["VpcEndpointType"] == "Interface"}
    gateway = {each["ServiceName"] for each in endpoints if each["VpcEndpointType"] == "Gateway"}
    assert interface == {f"com.amazonaws.us-east-2.{service}" for service in REQUIRED}
    assert gateway == {"com.amazonaws.us-east-2.s3"}
    assert all(each["PrivateDnsEnabled"] for each in endpoints if each["VpcEndpointType"] == "Interface")


def test_nothing_outside_may_come_in(stack: cdk.Stack) -> None:
    network(stack)
    groups, rules = (of_type(stack, f"AWS::EC2::SecurityGroup{kind}") for kind in ("", "Ingress"))
    assert groups
    assert rules
    for group in groups:
        assert "SecurityGroupIngress" not in group["Properties"]
    for rule in rules:
        assert not {"CidrIp", "CidrIpv6"} & rule["Properties"].keys()


def test_the_endpoints_let_the_tasks_of_multi_node_jobs_in(stack: cdk.Stack) -> None:
    # Without groups on the compute environment a task's interface has the VPC's default group (aws/aws-cdk#21577).
    network(stack)
    (vpc,) = (
        name
        for name, each in assertions.Template.from_stack(stack).to_json()["Resources"].items()
        if each["Type"] == "AWS::EC2::VPC"
    )
    rules = [
        each["Properties"]
        for each in of_type(stack, "AWS::EC2::SecurityGroupIngress")
        if each["Properties"].get("SourceSecurityGroupId") == {"Fn::GetAtt": [vpc, "DefaultSecurityGroup"]}
    ]
    assert [(each["IpProtocol"], each["FromPort"], each["ToPort"]) for each in rules] == [("tcp", 443, 443)]


def test_every_group_declares_its_egress_rules(stack: cdk.Stack) -> None:
    # EC2 gives a group without egress rules of its own one that allows everything.
    network(stack)
    declared = [
        group["Properties"]["SecurityGroupEgress"] for group in of_type(stack, "AWS::EC2::SecurityGroup")
    ]
    assert declared
    assert all(declared)
    assert "-1" not in {rule["IpProtocol"] for rules in declared for rule in rules}


def test_descriptions_of_groups_do_not_hold_the_construct_path(stack: cdk.Stack) -> None:
    # A changed description replaces the group, and what hangs on it.
    network(stack)
    descriptions = [
        group["Properties"]["GroupDescription"] for group in of_type(stack, "AWS::EC2::SecurityGroup")
    ]
    assert descriptions
    assert not [description for description in descriptions if "Test/" in description]


@pytest.mark.parametrize("endpoints", [["logs"], ["s3"], ["secretsmanager", "secretsmanager"], ["KMS"], [""]])
def test_an_endpoint_that_the_network_has_or_of_no_service_is_refused(
    stack: cdk.Stack, endpoints: list[str]
) -> None:
    with pytest.raises(FindingsError, match=r"UC3112: \S+: endpoints"):
        network(stack, endpoints=endpoints)


def test_rejects_before_anything_is_defined(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC4001"):
        network(stack, instance_type="trn2.96xlarge")
    assert stack.node.try_find_child("Network") is None


def test_others_can_be_let_in(stack: cdk.Stack) -> None:
    cluster = network(stack)
    cluster.connections.allow_from(ec2.Peer.ipv4("10.1.0.0/16"), ec2.Port.tcp(22), "a bastion")
    (opened,) = (
        each["Properties"]["SecurityGroupIngress"]
        for each in of_type(stack, "AWS::EC2::SecurityGroup")
        if "SecurityGroupIngress" in each["Properties"]
    )
    assert [(each["CidrIp"], each["FromPort"]) for each in opened] == [("10.1.0.0/16", 22)]


def test_other_constructs_get_the_network_itself(stack: cdk.Stack) -> None:
    cluster = network(stack)
    assert cluster.vpc is cluster.vpc
    assert cluster.security_group is cluster.security_group
    assert stack.resolve([cluster.vpc.vpc_id, cluster.security_group.security_group_id]) == stack.resolve(
        [cluster.vpc_id, cluster.security_group_id]
    )
    assert [each.subnet_id for each in cluster.vpc.isolated_subnets] == [cluster.subnet_id]
    assert len(of_type(stack, "AWS::EC2::VPC")) == 1
    assert len(of_type(stack, "AWS::EC2::SecurityGroup")) == 2


def test_others_may_be_reached_from_the_nodes(stack: cdk.Stack) -> None:
    # A group that the CDK thinks lets everything out gets no outbound rule, without a word.
    cluster = network(stack)
    cluster.connections.allow_to(ec2.Peer.ipv4("10.1.0.0/16"), ec2.Port.tcp(5432), "a database")
    assert any(
        rule.get("CidrIp") == "10.1.0.0/16"
        for each in of_type(stack, "AWS::EC2::SecurityGroup")
        for rule in each["Properties"]["SecurityGroupEgress"]
    )


def test_the_default_group_keeps_the_rules_that_ec2_gives_it_and_gets_no_more(stack: cdk.Stack) -> None:
    """It has all from itself and all out (field evidence, decision 0018): what tasks of multi-node jobs need."""
    ultra_cluster(
        stack,
    )
    resources = assertions.Template.from_stack(stack).to_json()["Resources"]
    uses = {
        (each["Type"], name)
        for each in resources.values()
        for name, value in each.get("Properties", {}).items()
        if "DefaultSecurityGroup" in json.dumps(value)
    }
    # The endpoints admit it as a source; no rule is of the group itself.
    assert uses == {("AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId")}


@pytest.mark.parametrize(
    ("region", "zone_id", "codes"),
    [
        ("us-east-2", "use2-az3", []),
        ("us-east-1", "use2-az3", ["UC3102"]),
        ("us-east-2", "us-east-2a", ["UC3003"]),
        (None, "us-east-2a", ["UC3003"]),
        (None, "use2-az3", []),
        ("xx-nowhere-1", "xxn1-az1", []),
        ("cn-north-1", "use2-az3", ["UC3102"]),
        pytest.param("us-east-2", cdk.Aws.REGION, [], id="a token"),
    ],
)
def test_a_zone_is_one_of_the_region_of_the_stack_if_both_are_known(
    region: str | None, zone_id: str, codes: list[str]
) -> None:
    stack = cdk.Stack(cdk.App(), "Zones", env=cdk.Environment(region=region))

    findings = check_zone(stack, zone_id)

    assert [(finding.code, finding.path) for finding in findings] == [(code, "zone_id") for code in codes]


FIRST = NetworkInterface(card=0, device=0, interface_type="efa")
FURTHER = tuple(NetworkInterface(card=card, device=1, interface_type="efa-only") for card in range(1, 16))


def warned(stack: cdk.Stack, code: str) -> bool:
    pattern = assertions.Match.string_like_regexp(f".*{code}.*")
    return bool(assertions.Annotations.from_stack(stack).find_warning("*", pattern))


def job_on(stack: cdk.Stack, *, instance_type: str, nic_layout: str) -> None:
    queue = uc.TrainingQueue(
        stack, "Queue", nodes=nodes(stack, instance_type=instance_type, nic_layout=nic_layout), max_nodes=4
    )
    uc.MultiNodeJob(stack, "Job", uc.Job(image=IMAGE, command=("train.py",)), queue=queue)


def test_nodes_get_the_specified_interfaces_with_the_primary_first(stack: cdk.Stack) -> None:
    group = nodes(stack, nic_layout=(*FURTHER, FIRST))
    interfaces = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["NetworkInterfaces"]
    assert [
        (each["NetworkCardIndex"], each["DeviceIndex"], each["InterfaceType"]) for each in interfaces
    ] == [
        (0, 0, "efa"),
        *((card, 1, "efa-only") for card in range(1, 16)),
    ]
    assert len(group.efa_devices) == 16
    assert not warned(stack, "UC4016")


def test_nodes_take_the_layout_that_their_network_has_addresses_for(stack: cdk.Stack) -> None:
    small = network(stack, cidr="10.0.0.0/24", node_count=40)
    with pytest.raises(TypeError, match="nic_layout"):
        uc.NodeGroup(
            stack,
            "Nodes",
            network=small,
            instance_type="trn2.48xlarge",
            image_id=IMAGE_ID,
            nic_layout="all-efa",  # type: ignore[call-arg]
        )
    interfaces = nodes(stack, network=small).network_interfaces
    assert (len(interfaces), addresses_per_node(interfaces)) == (16, 1)


def test_interfaces_one_by_one_are_for_the_type_that_the_network_was_sized_for(stack: cdk.Stack) -> None:
    own = network(stack, nic_layout=(FIRST, *FURTHER))
    assert len(nodes(stack, network=own).network_interfaces) == 16
    beside = uc.NodeGroup(stack, "Small", network=own, instance_type="trn2.3xlarge", image_id=IMAGE_ID)
    assert len(beside.network_interfaces) == 1


def _interface(each: NetworkInterface) -> uc.NetworkInterface:
    return uc.NetworkInterface(card=each.card, device=each.device, interface_type=each.interface_type)


def test_every_part_of_a_cluster_uses_the_specified_interfaces(stack: cdk.Stack) -> None:
    ultra_cluster(
        stack,
        network=uc.Network(network_interfaces=(_interface(FIRST), *map(_interface, FURTHER))),
    )
    interfaces = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["NetworkInterfaces"]
    assert {each["DeviceIndex"] for each in interfaces[1:]} == {1}


@pytest.mark.parametrize(
    ("instance_type", "nic_layout", "full"),
    [
        ("trn2.48xlarge", "ec2-guide", True),
        ("trn2.48xlarge", "batch", False),
        ("trn2.48xlarge", "all-efa", False),
        # Five slots on each card, of which the layout takes two.
        ("trn1.32xlarge", "ec2-guide", False),
    ],
)
def test_warns_a_multi_node_job_whose_task_may_find_no_slot(
    stack: cdk.Stack, instance_type: str, nic_layout: str, *, full: bool
) -> None:
    job_on(stack, instance_type=instance_type, nic_layout=nic_layout)
    assert warned(stack, "UC4017") is full
