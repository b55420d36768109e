"""Every argument of every kind of job: each changes the definition, and a cluster passes each of them on."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import Duration, assertions
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ssm as ssm
from tests.unit.ultracluster.builders import IMAGE, block, described, new_stack, ultra_cluster

from ultracluster import (
    FabricGate,
    Job,
    MultiNodeJob,
    PrecompileJob,
    Queue,
    SingleNodeJob,
    SmokeTrain,
    UltraCluster,
)
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow

COMMAND = ["train.py", "--steps", "10"]
PARAMETER = ssm.StringParameter.from_secure_string_parameter_attributes(
    new_stack(), "Key", parameter_name="/team/wandb"
)
PROGRAM = {
    "environment": {"SEED": "1"},
    "secrets": {"WANDB_API_KEY": batch.Secret.from_ssm_parameter(PARAMETER)},
    "timeout": Duration.hours(5),
    "attempts": 7,
}
NEURON = Neuron(optlevel=1)
ONE_CORE = Neuron(logical_nc_config=1)

GIVEN: Mapping[str, Mapping[str, Any]] = {
    "multi_node": {"nodes": 2, "processes_per_node": 16, "neuron": NEURON, **PROGRAM},
    "multi_node_jax": {"launcher": "jax"},
    "single_node": {"processes_per_node": 16, "array_size": 3, "neuron": NEURON, **PROGRAM},
    "single_node_raw": {"launcher": "raw"},
    "precompile": {"processes_per_node": 16, "retries": 4, "neuron": NEURON, "phase": "collect", **PROGRAM},
    "precompile_raw": {"launcher": "raw", "method": "first-steps"},
    "fabric": {
        "node_count": 2,
        "neuron": ONE_CORE,
        "min_bandwidth": 12.5,
        "max_latency": 80.0,
        "patience": Duration.minutes(4),
    },
    "smoke": {
        "node_count": 2,
        "processes_per_node": 16,
        "neuron": NEURON,
        "device": "neuron",
        "steps": 9,
        "timeout": Duration.minutes(50),
    },
}


def multi_node(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    job, others = described(image=IMAGE, command=COMMAND, **given)
    return whole.add_multi_node_job(name, job, **others)


def single_node(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    job, others = described(image=IMAGE, command=COMMAND, **given)
    return whole.add_single_node_job(name, job, **others)


def precompile(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    job, others = described(image=IMAGE, command=COMMAND, **given)
    return whole.add_precompile_job(name, job, **others)


def fabric(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    return whole.add_fabric_gate(name, image=IMAGE, **given)


def smoke(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    return whole.add_smoke_train(name, image=IMAGE, **given)


def multi_node_alone(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    job, others = described(image=IMAGE, command=COMMAND, **given)
    return MultiNodeJob(alone(whole), name, job, **{"compile_cache": whole.compile_cache} | others)


def single_node_alone(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    job, others = described(image=IMAGE, command=COMMAND, **given)
    return SingleNodeJob(alone(whole), name, job, **{"compile_cache": whole.compile_cache} | others)


def precompile_alone(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    job, others = described(image=IMAGE, command=COMMAND, **given)
    return PrecompileJob(alone(whole), name, job, **{"compile_cache": whole.compile_cache} | others)


def fabric_alone(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    return FabricGate(alone(whole), name, image=IMAGE, **given)


def smoke_alone(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
    cache = whole.compile_cache
    return SmokeTrain(alone(whole), name, image=IMAGE, **{"compile_cache": cache} | given)


Add = Callable[..., ClusterJob]
KINDS: Mapping[str, tuple[Add, Add]] = {
    "multi_node": (multi_node, multi_node_alone),
    "multi_node_jax": (multi_node, multi_node_alone),
    "single_node": (single_node, single_node_alone),
    "single_node_raw": (single_node, single_node_alone),
    "precompile": (precompile, precompile_alone),
    "precompile_raw": (precompile, precompile_alone),
    "fabric": (fabric, fabric_alone),
    "smoke": (smoke, smoke_alone),
}


def alone(whole: UltraCluster) -> cdk.Stack:
    return cdk.Stack.of(whole)


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """The jobs of one stack: of the cluster, alone, and alone without one of the arguments."""

    resources: Mapping[str, Any]
    stack: cdk.Stack
    jobs: Mapping[tuple[str, ...], ClusterJob]

    def definition(self, *name: str) -> dict[str, Any]:
        """Properties of the definition of a job, without what its own name and its cluster decide."""
        job = self.jobs[name]
        logical_id = self.stack.resolve(job.job_definition_arn)["Ref"]
        text = json.dumps(self.resources[logical_id]["Properties"]).replace(f'"{job.node.id}"', '"ITSELF"')
        properties: dict[str, Any] = json.loads(text, object_hook=_without_roles)
        tags = properties.pop("Tags", {})
        properties["Tags"] = {key: tag for key, tag in tags.items() if key not in {QUEUE_TAG, CLUSTER_TAG}}
        return properties


def _without_roles(properties: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if key not in {"JobRoleArn", "ExecutionRoleArn"}}


@pytest.fixture(scope="module")
def made() -> Made:
    stack = new_stack()
    whole = ultra_cluster(stack, capacity=block())
    queue = whole.add_queue("urgent", Queue(priority=9))
    before = whole.add_multi_node_job("Before", Job(image=IMAGE, command=COMMAND), queue=queue)
    jobs: dict[tuple[str, ...], ClusterJob] = {}
    for kind, (of_cluster, by_itself) in KINDS.items():
        given = {"queue": queue, "depends_on": [before], **GIVEN[kind]}
        jobs[kind, "of the cluster"] = of_cluster(whole, f"{kind}-of-cluster", **given)
        jobs[kind, "alone"] = by_itself(whole, f"{kind}-alone", **given)
        for left_out in given.keys() - {"queue"}:
            rest = {key: value for key, value in given.items() if key != left_out}
            jobs[kind, "without", left_out] = by_itself(whole, f"{kind}-without-{left_out}", **rest)
    return Made(
        resources=assertions.Template.from_stack(stack).to_json()["Resources"], stack=stack, jobs=jobs
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_of_a_cluster_equals_its_construct_with_the_same_arguments(made: Made, kind: str) -> None:
    assert made.definition(kind, "of the cluster") == made.definition(kind, "alone")


@pytest.mark.parametrize(
    ("kind", "argument"), [(kind, argument) for kind in KINDS for argument in ("depends_on", *GIVEN[kind])]
)
def test_each_argument_changes_the_definition(made: Made, kind: str, argument: str) -> None:
    assert made.definition(kind, "alone") != made.definition(kind, "without", argument)


def test_a_job_of_another_queue_has_a_tag_with_the_queue(made: Made) -> None:
    for kind in KINDS:
        job = made.jobs[kind, "of the cluster"]
        assert job.queue is made.jobs[kind, "alone"].queue
        logical_id = made.stack.resolve(job.job_definition_arn)["Ref"]
        tags = made.resources[logical_id]["Properties"].get("Tags", {})
        assert tags[QUEUE_TAG] == made.stack.resolve(job.queue.job_queue_arn)
