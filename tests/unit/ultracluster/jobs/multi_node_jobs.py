"""A job over the nodes of a queue, and its definition."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import IMAGE, described, only, queue

from ultracluster import MultiNodeJob, TrainingQueue


def job(stack: cdk.Stack, training: TrainingQueue | None = None, **changes: Any) -> MultiNodeJob:
    given = {"queue": training or queue(stack), "image": IMAGE, "command": ["train.py", "--steps", "10"]}
    description, others = described(**given | changes)
    return MultiNodeJob(stack, "Pretrain", description, **others)


def node_properties(stack: cdk.Stack) -> dict[str, Any]:
    return dict(only(stack, "AWS::Batch::JobDefinition")["NodeProperties"])


def container(stack: cdk.Stack) -> dict[str, Any]:
    (node_range,) = node_properties(stack)["NodeRangeProperties"]
    return dict(node_range["Container"])


def environment(stack: cdk.Stack) -> dict[str, Any]:
    return {each["Name"]: each["Value"] for each in container(stack)["Environment"]}
