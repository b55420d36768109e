"""Handler of a custom resource: the ECS cluster of a compute environment, which CloudFormation does not return."""

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

from ultracluster_runtime.functions.clients import OF_FUNCTIONS, Clients


def handler(event: Mapping[str, Any], context: Any) -> None:
    """Answer CloudFormation with the ARN of the cluster; its deletion deletes nothing."""
    answer = {
        "Status": "SUCCESS",
        "PhysicalResourceId": event.get("PhysicalResourceId", "none"),
        **{key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")},
    }
    if event["RequestType"] != "Delete":
        try:
            cluster = _cluster(event["ResourceProperties"]["ComputeEnvironment"])
            answer |= {"PhysicalResourceId": cluster, "Data": {"Arn": cluster}}
        except Exception as error:  # noqa: BLE001 - CloudFormation waits for an hour if it is not told
            reason = f"{type(error).__name__}: {error}; log stream {context.log_stream_name}"
            answer |= {"Status": "FAILED", "Reason": reason[:1024]}
    request = urllib.request.Request(event["ResponseURL"], data=json.dumps(answer).encode(), method="PUT")  # noqa: S310 - CloudFormation's
    with urllib.request.urlopen(request, timeout=30):  # noqa: S310 - likewise
        pass


def _cluster(environment: str) -> str:
    response = Clients(config=OF_FUNCTIONS)("batch").describe_compute_environments(
        computeEnvironments=[environment]
    )
    arn: str = response["computeEnvironments"][0]["ecsClusterArn"]
    if not arn:
        raise ValueError(f"{environment} has no ECS cluster yet")
    return arn
