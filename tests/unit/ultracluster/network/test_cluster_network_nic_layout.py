import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, ZONE, network, nodes, only

import ultracluster as uc
from ultracluster_catalog.machines.nic_layouts import NetworkInterface, addresses_per_node

pytestmark = pytest.mark.slow

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


def test_a_cluster_has_the_layout_of_its_network(stack: cdk.Stack) -> None:
    wide = network(stack, nic_layout="all-efa")
    given = {"instance_type": "trn2.48xlarge", "node_count": 4, "image_id": IMAGE_ID, "network": wide}
    made = uc.UltraCluster(stack, "Cluster", **given)
    assert addresses_per_node(made.nodes.network_interfaces) == 16


def test_interfaces_one_by_one_are_for_the_type_that_the_network_was_sized_for(stack: cdk.Stack) -> None:
    own = network(stack, nic_layout=(FIRST, *FURTHER))
    assert len(nodes(stack, network=own).network_interfaces) == 16
    beside = uc.NodeGroup(stack, "Small", network=own, instance_type="trn2.3xlarge", image_id=IMAGE_ID)
    assert len(beside.network_interfaces) == 1


def _interface(each: NetworkInterface) -> uc.NetworkInterface:
    return uc.NetworkInterface(card=each.card, device=each.device, interface_type=each.interface_type)


def test_every_part_of_a_cluster_uses_the_specified_interfaces(stack: cdk.Stack) -> None:
    uc.UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=4,
        image_id=IMAGE_ID,
        zone_id=ZONE,
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
