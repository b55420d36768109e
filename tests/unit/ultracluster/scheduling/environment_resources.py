"""The compute resources of a queue."""

import aws_cdk as cdk
from tests.unit.ultracluster.builders import only


def resources_of_environment(stack: cdk.Stack) -> dict[str, object]:
    return dict(only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"])
