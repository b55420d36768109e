import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, ZONE, network, nodes, only

import ultracluster as uc
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth

FIRST = NetworkInterface(card=0, device=0, interface_type="efa")
FURTHER = tuple(NetworkInterface(card=card, device=1, interface_type="efa-only") for card in range(1, 16))


def warned(stack: cdk.Stack, code: str) -> bool:
    pattern = assertions.Match.string_like_regexp(f".*{code}.*")
    return bool(assertions.Annotations.from_stack(stack).find_warning("*", pattern))


def job_on(stack: cdk.Stack, *, instance_type: str, nic_layout: str) -> None:
    queue = uc.TrainingQueue(
        stack, "Queue", nodes=nodes(stack, instance_type=instance_type, nic_layout=nic_layout), max_nodes=4
    )
    uc.MultiNodeJob(stack, "Job", queue=queue, image=IMAGE, command=["train.py"])


def test_nodes_get_the_interfaces_that_were_given_primary_first(stack: cdk.Stack) -> None:
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


def test_warns_of_efa_interfaces_that_are_left_out(stack: cdk.Stack) -> None:
    group = nodes(stack, nic_layout=(FIRST, *FURTHER[:7]))
    assert len(group.efa_devices) == 8
    assert warned(stack, "UC4016")


def test_refuses_everything_that_ec2_would_refuse_at_once(stack: cdk.Stack) -> None:
    neighbour = network(stack)
    with pytest.raises(FindingsError) as raised:
        nodes(
            stack,
            network=neighbour,
            nic_layout=(
                FIRST,
                NetworkInterface(card=1, device=2, interface_type="efa-only"),
                NetworkInterface(card=16, device=0, interface_type="efa-only"),
            ),
        )
    assert {finding.code for finding in raised.value.findings} == {"UC4011", "UC4012"}
    assert stack.node.try_find_child("Nodes") is None


def test_every_part_of_a_cluster_takes_the_given_interfaces(stack: cdk.Stack) -> None:
    uc.UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=4,
        image_id=IMAGE_ID,
        zone_id=ZONE,
        nic_layout=(FIRST, *FURTHER),
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
