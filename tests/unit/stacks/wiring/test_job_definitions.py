"""Jobs of a rollout are defined after those they wait for, each of its kind and with its gates."""

from collections.abc import Callable

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster import builders

import ultracluster as uc
from ultracluster.jobs.job import Job
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.wiring.job_definitions import define_jobs

pytestmark = pytest.mark.synth

IMAGE = "image: 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20, command: [x]"


def defined(config: ClusterConfig, *, dataset: bool = False) -> dict[str, Job]:
    stack = builders.new_stack()
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type=config.machine,
        node_count=config.nodes,
        image_id=config.image_id,
        capacity=builders.block(),
    )
    datasets = [uc.DatasetBucket(stack, "Data")] if dataset else []
    return define_jobs(cluster, config.jobs, datasets=datasets, queues={})


def jobs(*items: str) -> dict[str, str]:
    first = "          - name: pretrain\n"
    return {first: "".join(f"          - {{{item}, {IMAGE}}}\n" for item in items) + first}


def test_a_job_is_defined_after_those_it_waits_for(configured: Callable[..., ClusterConfig]) -> None:
    config = configured(
        **jobs(
            "name: last, depends_on: [mid]",
            "name: mid, depends_on: [first]",
            "name: first, kind: single-node",
        )
    )
    found = defined(config)

    assert list(found) == ["first", "mid", "last", "pretrain"]
    assert [job.node.id for job in found["last"].depends_on] == [found["mid"].node.id]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("kind: single-node", uc.SingleNodeJob),
        ("kind: precompile, instance_type: trn2.3xlarge", uc.PrecompileJob),
        ("kind: multi-node", uc.MultiNodeJob),
    ],
)
def test_a_job_is_of_its_kind(
    configured: Callable[..., ClusterConfig], kind: str, expected: type[Job]
) -> None:
    assert isinstance(defined(configured(**jobs(f"name: other, {kind}")))["other"], expected)


def test_a_job_waits_for_its_gates_and_the_smoke_test_for_the_fabric(
    configured: Callable[..., ClusterConfig],
) -> None:
    gated = defined(configured(**jobs("name: gated, gates: {fabric: true, smoke: true}")))["gated"]
    fabric, smoke = gated.depends_on

    assert (fabric.node.id, smoke.node.id) == ("gated-fabric", "gated-smoke")
    assert [gate.node.id for gate in smoke.depends_on] == ["gated-fabric"]


def test_every_job_can_read_the_datasets(configured: Callable[..., ClusterConfig]) -> None:
    job = defined(configured(), dataset=True)["pretrain"]

    policies = builders.of_type(cdk.Stack.of(job), "AWS::IAM::Policy")
    assert any("s3:GetObject" in str(policy) and "Data" in str(policy) for policy in policies)
