from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match
from tests.unit.ultracluster.builders import (
    IMAGE,
    IMAGE_ID,
    RESERVATION,
    ZONE,
    described,
    network,
    new_stack,
    nodes,
    of_type,
)

import ultracluster as uc
from ultracluster.jobs.precompile_job import precompile_queue
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow


def training_queue(stack: cdk.Stack, instance_type: str, name: str = "Cluster") -> uc.TrainingQueue:
    scope = stack.node.try_find_child("Network") or network(stack)
    assert isinstance(scope, uc.ClusterNetwork)
    group = uc.NodeGroup(stack, f"{name}Nodes", network=scope, instance_type=instance_type, image_id=IMAGE_ID)
    return uc.TrainingQueue(stack, f"{name}Queue", nodes=group, max_nodes=2)


def precompile(stack: cdk.Stack, queue: uc.TrainingQueue, **changes: Any) -> uc.PrecompileJob:
    cache = changes.pop("compile_cache", None) or uc.CompileCache(stack, "Cache")
    given = {"queue": queue, "image": IMAGE, "command": ["train.py", "--steps", "10"], "compile_cache": cache}
    job, others = described(**given | changes)
    return uc.PrecompileJob(stack, "Precompile", job, **others)


def container(stack: cdk.Stack) -> dict[str, Any]:
    (found,) = (
        each["Properties"]
        for each in of_type(stack, "AWS::Batch::JobDefinition")
        if each["Properties"]["Type"] == "container"
    )
    return dict(found["ContainerProperties"])


def doubts(stack: cdk.Stack) -> list[str]:
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("UC6115"))
    return [str(entry.entry.data) for entry in found]


def test_the_first_steps_of_the_program_fill_any_cache(stack: cdk.Stack) -> None:
    made = precompile(stack, training_queue(stack, "trn1.2xlarge"), method="first-steps")
    assert container(stack)["Command"][:2] == ["python3", "/run/ultracluster/launch"]
    assert "NEURON_PARALLEL_COMPILE_MAX_RETRIES" not in made.environment


def test_compiles_collected_graphs_for_another_family(stack: cdk.Stack) -> None:
    queue = training_queue(stack, "trn1.2xlarge")
    made = precompile(stack, queue, phase="compile", for_instance_type="trn2.48xlarge")
    assert made.environment["NEURON_PLATFORM_TARGET_OVERRIDE"] == "trn2"


def cpu_queue(stack: cdk.Stack) -> uc.TrainingQueue:
    cluster = training_queue(stack, "trn2.48xlarge").nodes
    return precompile_queue(stack, uc.Job(instance_type="cpu"), cluster=cluster)


def test_collected_graphs_compile_on_a_host_without_neuron_devices(stack: cdk.Stack) -> None:
    queue = cpu_queue(stack)
    settings = Neuron(logical_nc_config=1)
    made = precompile(stack, queue, phase="compile", for_instance_type="trn2.48xlarge", neuron=settings)
    assert queue.nodes.instance_type.name == "m7i.24xlarge"
    assert made.environment["NEURON_PLATFORM_TARGET_OVERRIDE"] == "trn2"
    assert made.environment["UC_PROCESSES_PER_NODE"] == "128"  # as on the nodes that the graphs are for
    assert (
        "Devices" not in container(stack)["LinuxParameters"]
        or not container(stack)["LinuxParameters"]["Devices"]
    )
    assert not [each for each in container(stack)["ResourceRequirements"] if each["Type"] == "GPU"]


@pytest.mark.parametrize(
    ("place", "phase", "there"),
    [
        (lambda stack: training_queue(stack, "trn1.2xlarge"), "all", "trn1.2xlarge"),
        (lambda stack: training_queue(stack, "trn1.2xlarge"), "collect", "trn1.2xlarge"),
        (cpu_queue, "all", "m7i.24xlarge"),
    ],
)
def test_graphs_are_collected_on_the_chips_that_they_are_for(
    stack: cdk.Stack, place: Callable[[cdk.Stack], uc.TrainingQueue], phase: str, there: str
) -> None:
    with pytest.raises(FindingsError, match=rf"UC6114: .*trn2\.48xlarge.*{there}"):
        precompile(stack, place(stack), phase=phase, for_instance_type="trn2.48xlarge")


def test_vllm_captures_its_graphs_on_cpus_if_configured(stack: cdk.Stack) -> None:
    # Neuron documentation, vLLM Neuron, CPU Compilation, 2026-06.
    precompile(
        stack,
        cpu_queue(stack),
        for_instance_type="trn2.48xlarge",
        method="first-steps",
        launcher="raw",
        environment={"VLLM_NEURON_CPU_COMPILE": "1"},
    )


def test_a_zone_without_smaller_trainium_compiles_collected_graphs_on_cpus(stack: cdk.Stack) -> None:
    cluster = training_queue(stack, "trn2.48xlarge").nodes
    found = precompile_queue(stack, uc.Job(phase="compile"), cluster=cluster)
    assert found.nodes.instance_type.name == "m7i.24xlarge"
    with pytest.raises(FindingsError, match="UC6116"):
        precompile_queue(stack, uc.Job(), cluster=cluster)


def test_the_default_node_is_one_that_the_zone_of_the_network_offers(stack: cdk.Stack) -> None:
    there = network(stack, instance_type="trn1.32xlarge")
    files = uc.SharedFileSystem(stack, "FileSystem", network=there)
    block = uc.CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE)
    cluster = nodes(stack, instance_type="trn1.32xlarge", network=there, file_system=files, capacity=block)
    queue = precompile_queue(stack, uc.Job(), cluster=cluster)
    assert (queue.nodes.instance_type.name, queue.max_nodes, queue.nodes.capacity) == (
        "trn1.2xlarge",
        1,
        None,
    )
    assert (queue.nodes.network, queue.nodes.file_system) == (there, files)
    assert precompile_queue(stack, uc.Job(instance_type="trn1.2xlarge"), cluster=queue.nodes) is queue, (
        "one for each type"
    )
    other = new_stack()
    zone = cdk.CfnParameter(other, "Zone").value_as_string
    there = network(other, zone_id=zone, instance_type="trn1.32xlarge")
    unknown = nodes(other, network=there, instance_type="trn1.32xlarge")
    with pytest.raises(FindingsError, match="the zone"):
        precompile_queue(other, uc.Job(), cluster=unknown)


def test_leaves_the_target_to_the_chips_that_it_is_for(stack: cdk.Stack) -> None:
    made = precompile(stack, training_queue(stack, "trn1.2xlarge"), for_instance_type="trn1.32xlarge")
    assert "NEURON_PLATFORM_TARGET_OVERRIDE" not in made.environment


def trainer(stack: cdk.Stack, queue: uc.TrainingQueue, before: uc.PrecompileJob, **changes: Any) -> None:
    given: dict[str, Any] = {"queue": queue, "image": IMAGE, "command": ["train.py"], "depends_on": [before]}
    job, others = described(**given | changes)
    uc.MultiNodeJob(stack, "Train", job, **others)


def test_a_job_with_the_same_graphs_raises_no_warning(stack: cdk.Stack) -> None:
    cache = uc.CompileCache(stack, "Cache")
    settings = Neuron(model_type="transformer")
    before = precompile(
        stack, training_queue(stack, "trn1.2xlarge", "Small"), compile_cache=cache, neuron=settings
    )
    cluster = training_queue(stack, "trn1.32xlarge")
    trainer(stack, cluster, before, nodes=1, processes_per_node=2, compile_cache=cache, neuron=settings)
    assert doubts(stack) == []


def test_graphs_collected_elsewhere_may_have_another_number_of_workers(stack: cdk.Stack) -> None:
    cache = uc.CompileCache(stack, "Cache")
    before = precompile(
        stack, training_queue(stack, "trn1.2xlarge", "Small"), compile_cache=cache, phase="compile"
    )
    trainer(stack, training_queue(stack, "trn1.32xlarge"), before, compile_cache=cache)
    assert doubts(stack) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nodes": 2, "processes_per_node": 32}, "2 workers, not 64"),
        ({"neuron": Neuron(optlevel=1)}, "NEURON_CC_FLAGS differs"),
        ({"compile_cache": None}, "NEURON_COMPILE_CACHE_URL differs"),
        ({"image": f"{IMAGE}-2"}, "the image differs"),
    ],
)
def test_warns_about_graphs_that_the_job_cannot_use(
    stack: cdk.Stack, changes: dict[str, Any], said: str
) -> None:
    cache = uc.CompileCache(stack, "Cache")
    before = precompile(stack, training_queue(stack, "trn1.2xlarge", "Small"), compile_cache=cache)
    same = {"nodes": 1, "processes_per_node": 2, "compile_cache": cache}
    trainer(stack, training_queue(stack, "trn1.32xlarge"), before, **same | changes)
    (warning,) = doubts(stack)
    assert said in warning


def test_warns_of_a_job_on_other_chips(stack: cdk.Stack) -> None:
    cache = uc.CompileCache(stack, "Cache")
    before = precompile(stack, training_queue(stack, "trn1.2xlarge", "Small"), compile_cache=cache)
    cluster = training_queue(stack, "trn2.48xlarge")
    trainer(stack, cluster, before, nodes=1, processes_per_node=4, compile_cache=cache)
    (warning,) = doubts(stack)
    assert "it compiles for trn1, not for trn2.48xlarge" in warning
