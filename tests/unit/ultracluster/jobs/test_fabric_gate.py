"""The fabric gate measures the network of the nodes."""

import json

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, of_type, only, queue
from tests.unit.ultracluster.jobs.defined_jobs import arguments, container, timeout

from ultracluster import FabricGate, Job, MultiNodeJob, SmokeTrain
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("instance_type", "interfaces", "ranks", "group"),
    [
        ("trn2.48xlarge", 16, 64, 2),
        ("trn2u.48xlarge", 16, 64, 4),
        ("trn1.32xlarge", 8, 32, 2),
        ("p5.48xlarge", 32, 0, 2),
    ],
)
def test_a_fabric_gate_expects_the_devices_of_the_instance_type(
    stack: cdk.Stack, instance_type: str, interfaces: int, ranks: int, group: int
) -> None:
    FabricGate(stack, "Gate", queue=queue(stack, instance_type=instance_type), image=IMAGE)
    assert arguments(stack) == [
        *["python3", "-c", f"efa={interfaces}", f"ranks={ranks}", "patience=900", f"group={group}"]
    ]
    assert timeout(stack) == 7 * 900  # four nodes: they come, all are measured twice, then pairs


def test_a_fabric_gate_runs_in_the_image_of_the_job(stack: cdk.Stack) -> None:
    FabricGate(stack, "Gate", queue=queue(stack), image=IMAGE, node_count=2)
    assert container(stack)["Image"] == IMAGE
    assert len(container(stack)["LinuxParameters"]["Devices"]) == 32
    properties = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]
    assert (properties["NumNodes"], properties["MainNode"]) == (2, 0)
    assert container(stack)["Command"][2] == "raw"


@pytest.mark.parametrize("instance_type", ["trn2u.48xlarge", "trn1.32xlarge", "p5.48xlarge"])
def test_gates_and_jobs_are_a_third_of_the_largest_job_definition(
    stack: cdk.Stack, instance_type: str
) -> None:
    training = queue(stack, instance_type=instance_type)
    FabricGate(stack, "Gate", queue=training, image=IMAGE, min_bandwidth=40.5, max_latency=1000)
    SmokeTrain(stack, "Smoke", queue=training, image=IMAGE)
    MultiNodeJob(stack, "Job", Job(image=IMAGE, command=("train.py", "--steps", "10")), queue=training)
    sizes = {
        each["Properties"]["NodeProperties"]["NodeRangeProperties"][0]["Container"]["LogConfiguration"][
            "Options"
        ]["awslogs-stream-prefix"]: len(json.dumps(each["Properties"], separators=(",", ":")))
        for each in of_type(stack, "AWS::Batch::JobDefinition")
    }
    assert max(sizes.values()) < 8 * 1024, sizes


def test_gates_follow_the_logical_neuroncores_of_the_job(stack: cdk.Stack) -> None:
    FabricGate(
        stack,
        "Gate",
        queue=queue(stack),
        image=IMAGE,
        neuron=Neuron(logical_nc_config=1),
    )
    assert "ranks=128" in arguments(stack)


def test_the_paid_job_waits_for_both_gates(stack: cdk.Stack) -> None:
    training = queue(stack)
    fabric = FabricGate(stack, "Fabric", queue=training, image=IMAGE)
    smoke = SmokeTrain(stack, "Smoke", queue=training, image=IMAGE, depends_on=[fabric])
    MultiNodeJob(
        stack, "Pretrain", Job(image=IMAGE, command=("train.py",)), queue=training, depends_on=[smoke]
    )
    tags = [each["Properties"].get("Tags") for each in of_type(stack, "AWS::Batch::JobDefinition")]
    assert tags == [None, {"ultracluster:after": "Fabric"}, {"ultracluster:after": "Smoke"}]


def test_a_bound_is_what_the_network_can_carry(stack: cdk.Stack) -> None:
    training = queue(stack)
    FabricGate(stack, "Most", queue=training, image=IMAGE, node_count=2, min_bandwidth=745)
    with pytest.raises(FindingsError, match=r"UC6158: \S+: min_bandwidth: got 746 GiB/s"):
        FabricGate(stack, "Gate", queue=training, image=IMAGE, node_count=2, min_bandwidth=746)


def test_a_type_without_efa_has_no_fabric(stack: cdk.Stack) -> None:
    training = queue(stack, instance_type="trn1.2xlarge", max_nodes=1)
    with pytest.raises(FindingsError, match=r"UC6150: \S+: queue: trn1.2xlarge has no EFA"):
        FabricGate(stack, "Gate", queue=training, image=IMAGE)
    assert of_type(stack, "AWS::Batch::JobDefinition") == []
