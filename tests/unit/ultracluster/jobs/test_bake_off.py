import dataclasses
import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ssm as ssm
from tests.unit.ultracluster import builders
from tests.unit.ultracluster.builders import IMAGE, described, of_type

from ultracluster import BakeOff, Candidate, Job, NodeGroup, TrainingQueue
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

GPU_IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training-cuda:2026-11-20"


def candidates(stack: cdk.Stack, **changes: Any) -> dict[str, Candidate]:
    network = builders.network(stack)
    queues = {
        name: TrainingQueue(
            stack,
            f"Queue{name}",
            nodes=NodeGroup(
                stack,
                f"Nodes{name}",
                network=network,
                instance_type=instance_type,
                image_id="ami-0123456789abcdef0",
            ),
            max_nodes=4,
        )
        for name, instance_type in (("trn2", "trn2.48xlarge"), ("p5", "p5.48xlarge"))
    }
    return {
        "trn2": Candidate(queue=queues["trn2"], image=IMAGE, node_count=2, price_per_node_hour=35.0),
        "p5": Candidate(queue=queues["p5"], image=GPU_IMAGE, node_count=2, **changes),
    }


def bake_off(stack: cdk.Stack, **changes: Any) -> BakeOff:
    given = {"candidates": candidates(stack), "figures": ["tokens_per_second"]}
    job, others = described(command=("train.py",), **changes)
    return BakeOff(stack, "BakeOff", job=job, **given | others)


def containers(stack: cdk.Stack) -> list[dict[str, Any]]:
    return [
        each["Properties"]["NodeProperties"]["NodeRangeProperties"][0]["Container"]
        for each in of_type(stack, "AWS::Batch::JobDefinition")
    ]


def test_both_run_the_same_command_on_their_own_machines(stack: cdk.Stack) -> None:
    key = ssm.StringParameter.from_secure_string_parameter_attributes(stack, "Key", parameter_name="key")
    bake_off(stack, environment={"SEED": "1"}, secrets={"KEY": batch.Secret.from_ssm_parameter(key)})
    trainium, gpu = containers(stack)
    assert trainium["Secrets"] == gpu["Secrets"]
    assert [each["Name"] for each in gpu["Secrets"]] == ["KEY"]
    assert trainium["Command"] == gpu["Command"]
    assert (trainium["Image"], gpu["Image"]) == (IMAGE, GPU_IMAGE)
    assert (trainium["InstanceType"], gpu["InstanceType"]) == ("trn2.48xlarge", "p5.48xlarge")
    variables = [{each["Name"]: each["Value"] for each in one["Environment"]} for one in (trainium, gpu)]
    assert [each["SEED"] for each in variables] == ["1", "1"]
    assert [each["UC_CANDIDATE"].rpartition("/")[2] for each in variables] == ["trn2", "p5"]


def test_a_figure_of_each_becomes_a_metric_from_its_log(stack: cdk.Stack) -> None:
    made = bake_off(stack)
    filters = [each["Properties"] for each in of_type(stack, "AWS::Logs::MetricFilter")]
    assert len(filters) == 2
    for one, name in zip(filters, ("trn2", "p5"), strict=True):
        (variables,) = [
            {each["Name"]: each["Value"] for each in container["Environment"]}
            for container in containers(stack)
            if container["LogConfiguration"]["Options"]["awslogs-group"] == one["LogGroupName"]
        ]
        full = variables["UC_CANDIDATE"]
        assert one["FilterPattern"] == f'{{ $.candidate = "{full}" && $.tokens_per_second = * }}'
        (transformation,) = one["MetricTransformations"]
        assert transformation["Dimensions"] == [{"Key": "Candidate", "Value": "$.candidate"}]
        metric = made.metric("tokens_per_second", candidate=name)
        assert (metric.namespace, metric.metric_name) == (
            transformation["MetricNamespace"],
            transformation["MetricName"],
        )
        assert metric.dimensions == {"Candidate": full}


def test_one_table_shows_all_figures_and_what_a_dollar_buys(stack: cdk.Stack) -> None:
    bake_off(stack, figures=["tokens_per_second", "loss"])
    body = assertions.Template.from_stack(stack).find_resources("AWS::CloudWatch::Dashboard")
    (dashboard,) = body.values()
    parts = dashboard["Properties"]["DashboardBody"]["Fn::Join"][1]
    (table,) = json.loads("".join(each if isinstance(each, str) else "x" for each in parts))["widgets"]
    labels = [row[-1].get("label") for row in table["properties"]["metrics"]]
    assert [label for label in labels if label] == [
        "trn2: tokens_per_second",
        "p5: tokens_per_second",
        "trn2: tokens for a dollar",
        "trn2: loss",
        "p5: loss",
    ]
    expressions = [row[0]["expression"] for row in table["properties"]["metrics"] if "expression" in row[0]]
    assert expressions == ["trn2_tokens_per_second * 3600 / 70.0"]  # two nodes at 35 dollars


def test_a_price_is_above_zero(stack: cdk.Stack) -> None:
    given = candidates(stack, price_per_node_hour=0.01)
    BakeOff(stack, "Cheap", candidates=given, job=Job(command=("train.py",)))
    free = dataclasses.replace(given["p5"], price_per_node_hour=0)
    with pytest.raises(FindingsError, match=r"UC6162: \S+: candidates.p5.price_per_node_hour: got 0"):
        BakeOff(stack, "Free", candidates=given | {"p5": free}, job=Job(command=("train.py",)))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"figures": []}, r"UC6160: \S+: figures: got 0.*1 to 10"),
        ({"figures": [f"f{index}" for index in range(11)]}, r"UC6160: \S+: figures: got 11"),
        ({"candidates": {}}, r"UC6160: \S+: candidates: got 0.*2 to 10"),
        ({"figures": ["Loss"]}, r"UC6161: \S+: figures: got 'Loss'"),
        ({"figures": ["tokens/s"]}, r"UC6161: \S+: figures"),
        ({"nodes": 3}, r"UC6112: \S+: job.nodes: got 3 for a bake-off job. Set it for each candidate"),
        ({"image": IMAGE}, r"UC6112: \S+: job.image"),
    ],
)
def test_rejects_arguments_that_make_no_table(stack: cdk.Stack, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(FindingsError, match=code):
        bake_off(stack, **changes)


def test_every_candidate_starts_by_the_same_launcher(stack: cdk.Stack) -> None:
    bake_off(stack, launcher="raw")
    commands = [container["Command"][2] for container in containers(stack)]
    assert len(commands) == 2
    assert not [command for command in commands if "torchrun" in command]
