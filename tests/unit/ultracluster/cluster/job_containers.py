"""The container of a job on a machine."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import IMAGE, only, queue

import ultracluster as uc


def container_on(stack: cdk.Stack, **changes: Any) -> dict[str, Any]:
    uc.MultiNodeJob(stack, "Job", uc.Job(image=IMAGE, command=("train.py",)), queue=queue(stack, **changes))
    (node_range,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    return dict(node_range["Container"])


def variables(stack: cdk.Stack, **changes: Any) -> set[str]:
    return {each["Name"] for each in container_on(stack, **changes)["Environment"]}
