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


Add = Callable[..., ClusterJob]
# The method of a cluster, the construct that it defines, and what the method gives it besides the options.
CONSTRUCTS: Mapping[str, tuple[str, type[ClusterJob], bool]] = {
    "multi_node": ("add_multi_node_job", MultiNodeJob, True),
    "single_node": ("add_single_node_job", SingleNodeJob, True),
    "precompile": ("add_precompile_job", PrecompileJob, True),
    "fabric": ("add_fabric_gate", FabricGate, False),
    "smoke": ("add_smoke_train", SmokeTrain, True),
}
GATES = {"fabric", "smoke"}


def adders(kind: str) -> tuple[Add, Add]:
    """What defines a job of a kind by the cluster, and what defines it alone in the same stack."""
    kind = kind.removesuffix("_jax").removesuffix("_raw")
    method, construct, cached = CONSTRUCTS[kind]

    def described_as(given: dict[str, Any]) -> tuple[tuple[Job, ...], dict[str, Any]]:
        if kind in GATES:
            return (), {"image": IMAGE} | given
        job, others = described(image=IMAGE, command=COMMAND, **given)
        return (job,), others

    def of_cluster(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
        job, others = described_as(given)
        made: ClusterJob = getattr(whole, method)(name, *job, **others)
        return made

    def by_itself(whole: UltraCluster, name: str, **given: Any) -> ClusterJob:
        job, others = described_as(given)
        cache = {"compile_cache": whole.compile_cache} if cached else {}
        return construct(cdk.Stack.of(whole), name, *job, **cache | others)

    return of_cluster, by_itself


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
    for kind in GIVEN:
        of_cluster, by_itself = adders(kind)
        given = {"queue": queue, "depends_on": [before], **GIVEN[kind]}
        jobs[kind, "of the cluster"] = of_cluster(whole, f"{kind}-of-cluster", **given)
        jobs[kind, "alone"] = by_itself(whole, f"{kind}-alone", **given)
        for left_out in given.keys() - {"queue"}:
            rest = {key: value for key, value in given.items() if key != left_out}
            jobs[kind, "without", left_out] = by_itself(whole, f"{kind}-without-{left_out}", **rest)
    return Made(
        resources=assertions.Template.from_stack(stack).to_json()["Resources"], stack=stack, jobs=jobs
    )


@pytest.mark.parametrize("kind", GIVEN)
def test_a_job_of_a_cluster_equals_its_construct_with_the_same_arguments(made: Made, kind: str) -> None:
    assert made.definition(kind, "of the cluster") == made.definition(kind, "alone")


@pytest.mark.parametrize(
    ("kind", "argument"), [(kind, argument) for kind in GIVEN for argument in ("depends_on", *GIVEN[kind])]
)
def test_each_argument_changes_the_definition(made: Made, kind: str, argument: str) -> None:
    assert made.definition(kind, "alone") != made.definition(kind, "without", argument)


def test_a_job_of_another_queue_has_a_tag_with_the_queue(made: Made) -> None:
    for kind in GIVEN:
        job = made.jobs[kind, "of the cluster"]
        assert job.queue is made.jobs[kind, "alone"].queue
        logical_id = made.stack.resolve(job.job_definition_arn)["Ref"]
        tags = made.resources[logical_id]["Properties"].get("Tags", {})
        assert tags[QUEUE_TAG] == made.stack.resolve(job.queue.job_queue_arn)
