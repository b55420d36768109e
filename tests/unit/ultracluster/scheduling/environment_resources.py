"""The compute resources of a queue."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import only

from ultracluster import (
    TrainingQueue,
)


def resources_of_environment(stack: cdk.Stack) -> dict[str, object]:
    return dict(only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"])


def shown(of: TrainingQueue, resources: Mapping[str, Any]) -> dict[str, Any]:
    logical_id = cdk.Stack.of(of).resolve(of.job_queue_arn)["Fn::GetAtt"][0]
    return dict(resources[logical_id]["Properties"])
