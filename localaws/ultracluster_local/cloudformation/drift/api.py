"""CloudFormation API operations for drift detection."""

import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.drift.detection import detect_drift
from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.requests import ONE_AT_A_TIME, stack_of
from ultracluster_local.cloudformation.stacks import stacks_of
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.running import running
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["handlers"]

handlers = Handlers(service="cloudformation")


@handlers("DetectStackDrift")
def detect_stack_drift(request: Request) -> Mapping[str, Any]:
    """Detect drift of a stack."""
    stack = stack_of(request)
    with ONE_AT_A_TIME:
        detect_drift(stack, clients=running().clients)
    stack.drift_detection_id = str(uuid.uuid4())
    return {"StackDriftDetectionId": stack.drift_detection_id}


@handlers("DescribeStackDriftDetectionStatus")
def describe_stack_drift_detection_status(request: Request) -> Mapping[str, Any]:
    """Describe the status of a drift detection."""
    detection = request.parameters["StackDriftDetectionId"]
    stack = next(
        (one for one in stacks_of(request.region).living() if one.drift_detection_id == detection), None
    )
    if stack is None:
        raise ValidationError(f"DetectionId [{detection}] does not exist")
    return {
        "StackId": stack.stack_id,
        "StackDriftDetectionId": detection,
        "StackDriftStatus": stack.drift_status(),
        "DetectionStatus": "DETECTION_COMPLETE",
        "DriftedStackResourceCount": stack.drifted(),
        "Timestamp": CLOCK.now(),
    }


@handlers("DescribeStackResourceDrifts")
def describe_stack_resource_drifts(request: Request) -> Mapping[str, Any]:
    """Describe the drift of resources."""
    wanted = request.parameters.get("StackResourceDriftStatusFilters") or []
    shown = [
        one for one in stack_of(request).drift if not wanted or one["StackResourceDriftStatus"] in wanted
    ]
    return page(shown, parameters=request.parameters, key="StackResourceDrifts")
