"""Jobs over the nodes of a queue and on one of them, and their definitions."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import IMAGE, described, only, queue

from ultracluster import MultiNodeJob, SingleNodeJob, TrainingQueue


def job(stack: cdk.Stack, training: TrainingQueue | None = None, **changes: Any) -> MultiNodeJob:
    given = {"queue": training or queue(stack), "image": IMAGE, "command": ["train.py", "--steps", "10"]}
    description, others = described(**given | changes)
    return MultiNodeJob(stack, "Pretrain", description, **others)


def node_properties(stack: cdk.Stack) -> dict[str, Any]:
    return dict(only(stack, "AWS::Batch::JobDefinition")["NodeProperties"])


def container(stack: cdk.Stack) -> dict[str, Any]:
    (node_range,) = node_properties(stack)["NodeRangeProperties"]
    return dict(node_range["Container"])


def container_on(stack: cdk.Stack, **changes: Any) -> dict[str, Any]:
    """The container of a job on nodes that are otherwise."""
    job(stack, queue(stack, **changes))
    return container(stack)


def environment(stack: cdk.Stack) -> dict[str, Any]:
    return {each["Name"]: each["Value"] for each in container(stack)["Environment"]}


def arguments(stack: cdk.Stack) -> list[str]:
    """What follows the launcher, without the text of the gate's own script."""
    python, path, _, *rest = container(stack)["Command"]
    assert (python, path) == ("python3", "/run/ultracluster/launch")
    return [each for each in rest if not each.startswith("bz2:")]


def timeout(stack: cdk.Stack) -> int:
    return int(only(stack, "AWS::Batch::JobDefinition")["Timeout"]["AttemptDurationSeconds"])


def single_node_job(stack: cdk.Stack, name: str = "Evaluate", **changes: Any) -> SingleNodeJob:
    given = {"queue": changes.pop("queue", None) or queue(stack), "image": IMAGE, "command": ["evaluate.py"]}
    description, others = described(**given | changes)
    return SingleNodeJob(stack, name, description, **others)
