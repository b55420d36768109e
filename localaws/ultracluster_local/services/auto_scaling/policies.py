"""Scaling policies of groups: kept and shown, without effect, since no metric of a group exists here.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutScalingPolicy.html, read 2026-11; the message about the
increment is AWS's answer in Netflix/asgard#704.
"""

from collections.abc import Mapping
from typing import Any, Final

from ultracluster_local.instance.state import region_state
from ultracluster_local.services.auto_scaling.group import find_group, invalid
from ultracluster_local.services.handlers import Handlers, Request, hex_id, page

__all__ = ["handlers"]

handlers = Handlers(service="autoscaling")

_TYPES: Final = ("SimpleScaling", "StepScaling", "TargetTrackingScaling", "PredictiveScaling")
_ADJUSTMENTS: Final = ("ChangeInCapacity", "ExactCapacity", "PercentChangeInCapacity")
_NEEDED: Final = {
    "StepScaling": "StepAdjustments",
    "TargetTrackingScaling": "TargetTrackingConfiguration",
    "PredictiveScaling": "PredictiveScalingConfiguration",
}


def _policies(region: str) -> list[dict[str, Any]]:
    return region_state("auto-scaling-policies", region=region, new=list[dict[str, Any]])


@handlers("PutScalingPolicy")
def put_scaling_policy(request: Request) -> Mapping[str, Any]:
    """Create a policy, or replace the one of its name."""
    given = {"PolicyType": "SimpleScaling", **request.parameters}
    group, name = find_group(request.region, given["AutoScalingGroupName"]).name, given["PolicyName"]
    kind = given["PolicyType"]
    if kind not in _TYPES:
        raise invalid(f"Policy type {kind} is not valid; valid are {', '.join(_TYPES)}")
    if kind in {"SimpleScaling", "StepScaling"} and given.get("AdjustmentType") not in _ADJUSTMENTS:
        raise invalid(f"Adjustment type must be one of {', '.join(_ADJUSTMENTS)}")
    if kind == "SimpleScaling" and given.get("ScalingAdjustment") is None:
        raise invalid("Scaling increment must be specified for a SimpleScaling policy")
    if kind in _NEEDED and not given.get(_NEEDED[kind]):
        raise invalid(f"{_NEEDED[kind]} must be specified for a {kind} policy")
    kept = _policies(request.region)
    kept[:] = [one for one in kept if (one["AutoScalingGroupName"], one["PolicyName"]) != (group, name)]
    arn = request.arn(
        "autoscaling",
        f"scalingPolicy:{hex_id('policy')}:autoScalingGroupName/{group}:policyName/{name}",
    )
    kept.append({"Enabled": True, **given, "AutoScalingGroupName": group, "PolicyARN": arn, "Alarms": []})
    return {"PolicyARN": arn, "Alarms": []}


@handlers("DescribePolicies")
def describe_policies(request: Request) -> Mapping[str, Any]:
    """Describe the policies of a group, or all."""
    group, names = request.parameters.get("AutoScalingGroupName"), request.parameters.get("PolicyNames")
    shown = [
        one
        for one in _policies(request.region)
        if group in {None, one["AutoScalingGroupName"]} and (not names or one["PolicyName"] in names)
    ]
    return page(shown, parameters=request.parameters, key="ScalingPolicies")


@handlers("DeletePolicy")
def delete_policy(request: Request) -> Mapping[str, Any]:
    """Delete a policy by name or ARN."""
    wanted, kept = request.parameters["PolicyName"], _policies(request.region)
    kept[:] = [one for one in kept if wanted not in {one["PolicyName"], one["PolicyARN"]}]
    return {}
