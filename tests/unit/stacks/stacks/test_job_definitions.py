"""Jobs of a rollout are defined after those they wait for, each of its kind and with its gates."""

from collections.abc import Callable

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster import builders

import ultracluster as uc
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.stacks.job_definitions import define_jobs

pytestmark = pytest.mark.slow

IMAGE = "image: 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20, command: [x]"


def defined(config: Cluster, *, dataset: bool = False) -> dict[str, ClusterJob]:
    stack = builders.new_stack()
    cluster = builders.ultra_cluster(
        stack,
        instance_type=config.node_type,
        node_count=config.nodes,
    )
    datasets = [uc.DatasetBucket(stack, "Data")] if dataset else []
    return define_jobs(cluster, config.jobs, datasets=datasets, queues={})


def jobs(*items: str) -> dict[str, str]:
    first = "          - name: pretrain\n"
    return {first: "".join(f"          - {{{item}, {IMAGE}}}\n" for item in items) + first}


def test_a_job_is_defined_after_those_it_waits_for(configured: Callable[..., Cluster]) -> None:
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
    configured: Callable[..., Cluster], kind: str, expected: type[ClusterJob]
) -> None:
    assert isinstance(defined(configured(**jobs(f"name: other, {kind}")))["other"], expected)


def test_a_job_waits_for_its_gates_and_the_smoke_test_for_the_fabric(
    configured: Callable[..., Cluster],
) -> None:
    gated = defined(configured(**jobs("name: gated, gates: {fabric: true, smoke: true}")))["gated"]
    fabric, smoke = gated.depends_on

    assert (fabric.node.id, smoke.node.id) == ("gated-fabric", "gated-smoke")
    assert [gate.node.id for gate in smoke.depends_on] == ["gated-fabric"]


def test_every_job_can_read_the_datasets(configured: Callable[..., Cluster]) -> None:
    job = defined(configured(), dataset=True)["pretrain"]

    policies = builders.of_type(cdk.Stack.of(job), "AWS::IAM::Policy")
    assert any("s3:GetObject" in str(policy) and "Data" in str(policy) for policy in policies)


def test_secrets_and_permissions_of_a_job_reach_its_roles_and_its_definition(
    configured: Callable[..., Cluster],
) -> None:
    secret = "arn:aws:secretsmanager:us-east-2:123456789012:secret:hf-AbCdEf"
    parameter = "arn:aws:ssm:us-east-2:123456789012:parameter/team/wandb"
    config = configured(
        **jobs(
            "name: tune, "
            f"secrets: {{HF_TOKEN: '{secret}:token::', WANDB_API_KEY: '{parameter}'}}, "
            "permissions: {statements: [{actions: ['s3:GetObject'], resources: ['arn:aws:s3:::corpus/*']}], "
            "managed_policy_arns: ['arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess']}"
        ),
        **{"        network:": "        network: {nat_gateway: true}\n        #"},
    )
    stack = builders.new_stack()
    network = uc.ClusterNetwork(
        stack, "Net", zone_id=builders.ZONE, instance_type=config.node_type, node_count=8, nat_gateway=True
    )
    cluster = builders.ultra_cluster(
        stack,
        instance_type=config.node_type,
        node_count=config.nodes,
        network=network,
    )
    job = define_jobs(cluster, config.jobs, datasets=[], queues={})["tune"]

    (definition,) = [
        each["Properties"]
        for each in builders.of_type(stack, "AWS::Batch::JobDefinition")
        if "HF_TOKEN" in str(each)
    ]
    container = definition["NodeProperties"]["NodeRangeProperties"][0]["Container"]
    assert {each["Name"]: each["ValueFrom"] for each in container["Secrets"]} == {
        "HF_TOKEN": f"{secret}:token::",
        "WANDB_API_KEY": parameter,
    }
    assert "s3:GetObject" in str(builders.allowed(stack, "What the training program may do"))
    role = stack.resolve(job.role.node.default_child.managed_policy_arns)  # type: ignore[union-attr] - the L1
    assert "AmazonS3ReadOnlyAccess" in str(role)
