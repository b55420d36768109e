"""Two queues of a team over the same nodes."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk

from ultracluster import (
    TrainingQueue,
)


def shown(of: TrainingQueue, resources: Mapping[str, Any]) -> dict[str, Any]:
    logical_id = cdk.Stack.of(of).resolve(of.job_queue_arn)["Fn::GetAtt"][0]
    return dict(resources[logical_id]["Properties"])
