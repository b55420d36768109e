"""A job on one node, and its definition."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import IMAGE, described, queue

from ultracluster import SingleNodeJob


def single_node_job(stack: cdk.Stack, name: str = "Evaluate", **changes: Any) -> SingleNodeJob:
    given = {"queue": changes.pop("queue", None) or queue(stack), "image": IMAGE, "command": ["evaluate.py"]}
    description, others = described(**given | changes)
    return SingleNodeJob(stack, name, description, **others)
