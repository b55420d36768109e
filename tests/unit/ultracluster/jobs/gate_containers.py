"""The container of a gate."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import only


def container(stack: cdk.Stack) -> dict[str, Any]:
    (node_range,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    return dict(node_range["Container"])


def arguments(stack: cdk.Stack) -> list[str]:
    """What follows the launcher, without the text of the gate's own script."""
    python, path, _, *rest = container(stack)["Command"]
    assert (python, path) == ("python3", "/run/ultracluster/launch")
    return [each for each in rest if not each.startswith("bz2:")]


def timeout(stack: cdk.Stack) -> int:
    return int(only(stack, "AWS::Batch::JobDefinition")["Timeout"]["AttemptDurationSeconds"])
