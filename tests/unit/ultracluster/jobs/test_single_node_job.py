from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import only, queue
from tests.unit.ultracluster.jobs.single_node_jobs import single_node_job

from ultracluster import CompileCache
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow


def definition(stack: cdk.Stack) -> dict[str, Any]:
    return only(stack, "AWS::Batch::JobDefinition")


def test_is_one_container_that_has_a_whole_node(stack: cdk.Stack) -> None:
    made = single_node_job(stack, queue=queue(stack, instance_type="trn1.32xlarge"))
    properties = definition(stack)
    container = properties["ContainerProperties"]
    assert properties["Type"] == "container"
    assert "NodeProperties" not in properties
    # "This parameter isn't applicable to single-node container jobs": ContainerProperties, AWS Batch API Reference.
    assert "InstanceType" not in container
    requirements = {each["Type"]: int(each["Value"]) for each in container["ResourceRequirements"]}
    assert requirements == {"VCPU": 128, "MEMORY": 507_821}
    assert len([d for d in container["LinuxParameters"]["Devices"] if "neuron" in d["HostPath"]]) == 16
    assert container["Command"] == ["python3", "/run/ultracluster/launch", "torchrun", "evaluate.py"]
    assert made.workers == 32
    assert "Tags" not in properties


@pytest.mark.parametrize("size", [1, 0, -5, 10_001])
def test_rejects_arrays_that_aws_batch_refuses(stack: cdk.Stack, size: int) -> None:
    with pytest.raises(FindingsError, match=r"UC6111: \S+: array_size: .* Allowed: 2 to 10,000"):
        single_node_job(stack, array_size=size)


@pytest.mark.parametrize("size", [2, 10_000])
def test_the_size_of_an_array_waits_in_a_tag_for_the_submission(stack: cdk.Stack, size: int) -> None:
    single_node_job(stack, array_size=size)
    assert definition(stack)["Tags"] == {"ultracluster:array-size": str(size)}


def test_settings_and_cache_and_environment_become_one_set_of_variables(stack: cdk.Stack) -> None:
    made = single_node_job(
        stack,
        compile_cache=CompileCache(stack, "Cache"),
        neuron=Neuron(logical_nc_config=1, optlevel=1, exec_timeout_seconds=60),
        environment={"NEURON_CC_FLAGS": "-O1 --retry_failed_compilation --verbose=info", "SEED": "1"},
    )
    variables = {
        each["Name"]: each["Value"] for each in definition(stack)["ContainerProperties"]["Environment"]
    }
    assert variables["NEURON_CC_FLAGS"] == (
        "--retry_failed_compilation --logical-nc-config=1 --optlevel=1 --verbose=info"
    )
    assert variables.items() >= {"NEURON_LOGICAL_NC_CONFIG": "1", "NEURON_RT_EXEC_TIMEOUT": "60"}.items()
    # Twice the 64 of a trn2.48xlarge with two physical cores in each.
    assert variables["UC_PROCESSES_PER_NODE"] == "128"
    assert made.workers == 128
    assert made.environment["SEED"] == "1"


def test_the_dependencies_of_a_job_are_stored_for_its_submission(stack: cdk.Stack) -> None:
    training = queue(stack)
    before = [single_node_job(stack, name, queue=training) for name in ("Fetch", "Clean")]
    made = single_node_job(stack, queue=training, depends_on=before)
    assert made.depends_on == tuple(before)
    template = cdk.assertions.Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::Batch::JobDefinition", {"Tags": {"ultracluster:after": "Fetch Clean"}}
    )
