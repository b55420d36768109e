"""The fabric gate measures the network of the nodes."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, of_type, only, queue
from tests.unit.ultracluster.jobs.gate_containers import arguments, container, timeout

from ultracluster import FabricGate, MultiNodeJob, SmokeTrain
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth


@pytest.mark.parametrize(
    ("instance_type", "interfaces", "ranks"),
    [("trn2.48xlarge", "16", "64"), ("trn1.32xlarge", "8", "32"), ("p5.48xlarge", "32", "0")],
)
def test_a_fabric_gate_expects_the_devices_of_the_instance_type(
    stack: cdk.Stack, instance_type: str, interfaces: str, ranks: str
) -> None:
    FabricGate(stack, "Gate", queue=queue(stack, instance_type=instance_type), image=IMAGE)
    assert arguments(stack) == [
        *["python3", "-c", "--efa-interfaces", interfaces, "--ranks-per-node", ranks, "--patience", "900"]
    ]
    assert timeout(stack) == 3 * 900


def test_a_fabric_gate_runs_in_the_image_of_the_job(stack: cdk.Stack) -> None:
    FabricGate(stack, "Gate", queue=queue(stack), image=IMAGE, node_count=2)
    assert container(stack)["Image"] == IMAGE
    assert len(container(stack)["LinuxParameters"]["Devices"]) == 32
    properties = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]
    assert (properties["NumNodes"], properties["MainNode"]) == (2, 0)
    assert "NODE_RANK" in container(stack)["Command"][2]  # the raw launcher


def test_a_fabric_gate_applies_its_limits(stack: cdk.Stack) -> None:
    waits = cdk.Duration.minutes(5)
    FabricGate(
        stack,
        "Gate",
        queue=queue(stack),
        image=IMAGE,
        min_bandwidth=40.5,
        max_latency=1000,
        patience=waits,
    )
    assert arguments(stack)[-6:] == [
        *["--patience", "300", "--least-bandwidth", "40.5", "--most-latency", "1000"]
    ]


def test_a_gate_fits_into_a_job_definition(stack: cdk.Stack) -> None:
    FabricGate(stack, "Gate", queue=queue(stack), image=IMAGE)
    assert len(str(only(stack, "AWS::Batch::JobDefinition"))) < 24 * 1024  # AWS Batch quotas, read 2026-10


def test_gates_follow_the_logical_neuroncores_of_the_job(stack: cdk.Stack) -> None:
    FabricGate(
        stack,
        "Gate",
        queue=queue(stack),
        image=IMAGE,
        neuron=NeuronSettings(logical_nc_config=1),
    )
    given = arguments(stack)
    assert given[given.index("--ranks-per-node") + 1] == "128"


def test_the_paid_job_waits_for_both_gates(stack: cdk.Stack) -> None:
    training = queue(stack)
    fabric = FabricGate(stack, "Fabric", queue=training, image=IMAGE)
    smoke = SmokeTrain(stack, "Smoke", queue=training, image=IMAGE, depends_on=[fabric])
    MultiNodeJob(stack, "Pretrain", queue=training, image=IMAGE, command=["train.py"], depends_on=[smoke])
    tags = [each["Properties"].get("Tags") for each in of_type(stack, "AWS::Batch::JobDefinition")]
    assert tags == [None, {"ultracluster:after": "Fabric"}, {"ultracluster:after": "Smoke"}]


@pytest.mark.parametrize("name", ["min_bandwidth", "max_latency"])
def test_a_bound_is_above_zero(stack: cdk.Stack, name: str) -> None:
    training = queue(stack)
    FabricGate(stack, "Least", queue=training, image=IMAGE, **{name: 0.001})
    with pytest.raises(FindingsError, match=f"UC6151: {name}: got 0"):
        FabricGate(stack, "Gate", queue=training, image=IMAGE, **{name: 0})


def test_a_type_without_efa_has_no_fabric(stack: cdk.Stack) -> None:
    training = queue(stack, instance_type="trn1.2xlarge", max_nodes=1)
    with pytest.raises(FindingsError, match=r"UC6150: queue: trn1.2xlarge has no EFA"):
        FabricGate(stack, "Gate", queue=training, image=IMAGE)
    assert of_type(stack, "AWS::Batch::JobDefinition") == []
