"""A stack names what other tools need to submit to its cluster."""

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster import builders

import ultracluster as uc
from ultracluster_stacks.stacks.outputs import define_outputs

pytestmark = pytest.mark.slow

JOB = uc.Job(image=builders.IMAGE, command=("train.py",))


def outputs(stack: cdk.Stack, names: list[str]) -> dict[str, object]:
    cluster = builders.ultra_cluster(stack)
    job = cluster.add_multi_node_job("pretrain", JOB)
    queues = {"high-priority": cluster.add_queue("high-priority")}
    define_outputs(stack, cluster, queues=queues, jobs=dict.fromkeys(names, job))
    found = assertions.Template.from_stack(stack).find_outputs("*")
    return {name: each["Value"] for name, each in found.items()}


def test_queues_log_group_roles_and_definitions_are_named() -> None:
    stack = builders.new_stack()
    found = outputs(stack, ["pretrain", "a1", "a-1"])
    assert set(found) >= {"JobQueueArn", "LogGroupName", "NodeRoleArn", "JobQueueArnHighPriority"}
    for name in ("Pretrain", "A1"):
        assert set(found) >= {f"JobDefinitionArn{name}", f"JobRoleArn{name}", f"ExecutionRoleArn{name}"}
    assert "JobDefinitionArnA1Again" in found
    (definition,) = assertions.Template.from_stack(stack).find_resources("AWS::Batch::JobDefinition")
    assert found["JobDefinitionArnPretrain"] == {"Ref": definition}


@pytest.mark.parametrize(("jobs", "count"), [(65, 199), (66, 200), (110, 200)])
def test_there_are_no_more_outputs_than_a_stack_can_have(jobs: int, count: int) -> None:
    assert len(outputs(builders.new_stack(), [f"job{number}" for number in range(jobs)])) == count
