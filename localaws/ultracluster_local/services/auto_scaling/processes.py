"""Processes of a group that users suspend and resume."""

from collections.abc import Mapping
from typing import Any, Final

from ultracluster_local.services.auto_scaling.group import find_group, now
from ultracluster_local.services.auto_scaling.scaling import scale
from ultracluster_local.services.handlers import Handlers, Request

__all__: list[str] = []

handlers = Handlers(service="autoscaling")

_PROCESSES: Final = (
    "Launch",
    "Terminate",
    "AddToLoadBalancer",
    "AlarmNotification",
    "AZRebalance",
    "HealthCheck",
    "InstanceRefresh",
    "ReplaceUnhealthy",
    "ScheduledActions",
)
"""API_SuspendProcesses."""


@handlers("SuspendProcesses")
@handlers("ResumeProcesses")
def suspend_or_resume_processes(request: Request) -> Mapping[str, Any]:
    """Suspend or resume the named processes of a group, or all."""
    group = find_group(request.region, request.parameters["AutoScalingGroupName"])
    named = request.parameters.get("ScalingProcesses") or _PROCESSES
    kept = {one["ProcessName"]: one for one in group.settings.get("SuspendedProcesses", [])}
    for name in named:
        kept.pop(name, None)
        if request.operation == "SuspendProcesses":
            kept[name] = {"ProcessName": name, "SuspensionReason": f"User suspended at {now()}"}
    group.settings["SuspendedProcesses"] = list(kept.values())
    scale(group)
    return {}
