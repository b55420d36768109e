"""Replacement for the module that Lambda provides to functions with inline code."""

import json
import urllib.request
from typing import Any

__all__ = ["FAILED", "SUCCESS", "send"]

SUCCESS = "SUCCESS"
FAILED = "FAILED"


def send(  # noqa: PLR0917 - the published signature
    event: dict[str, Any],
    context: Any,
    responseStatus: str,  # noqa: N803 - the published names
    responseData: dict[str, Any],  # noqa: N803
    physicalResourceId: str | None = None,  # noqa: N803
    noEcho: bool = False,  # noqa: N803
    reason: str | None = None,
) -> None:
    """Send the response of a custom resource to CloudFormation."""
    body = {
        "Status": responseStatus,
        "Reason": reason or f"See the details in CloudWatch Log Stream: {context.log_stream_name}",
        "PhysicalResourceId": physicalResourceId or context.log_stream_name,
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "NoEcho": noEcho,
        "Data": responseData,
    }
    request = urllib.request.Request(  # noqa: S310 - the address that our engine gave
        event["ResponseURL"], data=json.dumps(body).encode(), method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310 - likewise
        pass
