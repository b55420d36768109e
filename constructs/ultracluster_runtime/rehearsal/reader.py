"""Client of the checks of a rehearsal: it reads, and makes the few other calls, none of which starts a node or buys."""

from collections.abc import Mapping
from typing import Any, Final

from ultracluster_runtime.preflight.reader import ALLOWED_CALLS, AwsReader

PROBE_TYPE: Final = "none1.nano"
"""An instance type that does not exist; AWS Batch answers with those that it knows."""

_PROBES: Final = frozenset(
    {
        "batch:CreateComputeEnvironment",
        "batch:SubmitJob",
        "batch:TerminateJob",
        "batch:UpdateComputeEnvironment",
        "ec2:RunInstances",
        "lambda:Invoke",
    }
)
REHEARSAL_CALLS: Final = (
    ALLOWED_CALLS
    | _PROBES
    | {
        "autoscaling:DescribeAutoScalingGroups",
        "batch:DescribeJobDefinitions",
        "batch:DescribeSchedulingPolicies",
        "cloudformation:DescribeStackEvents",
        "cloudformation:ListStackResources",
        "ec2:DescribeLaunchTemplateVersions",
        "lambda:GetFunctionConfiguration",
    }
)
"""All calls that the checks of a rehearsal may make, as IAM actions."""


class RehearsalReader(AwsReader):
    """The reader of preflight with the calls of a rehearsal.

    RunInstances is sent as a dry run only, CreateComputeEnvironment only with a type that does not exist, and
    UpdateComputeEnvironment only to disable an environment.
    """

    allowed = REHEARSAL_CALLS

    def _send(self, call: str, region: str, parameters: Mapping[str, Any]) -> Any:
        if call == "ec2:RunInstances" and parameters.get("DryRun") is not True:
            raise KeyError("a rehearsal sends RunInstances as a dry run only")
        types = parameters.get("computeResources", {}).get("instanceTypes")
        if call == "batch:CreateComputeEnvironment" and types != [PROBE_TYPE]:
            raise KeyError(
                f"a rehearsal creates compute environments of {PROBE_TYPE} only, which AWS Batch rejects"
            )
        change = {name: part for name, part in parameters.items() if name != "computeEnvironment"}
        if call == "batch:UpdateComputeEnvironment" and change != {"state": "DISABLED"}:
            raise KeyError("a rehearsal only disables compute environments")
        return super()._send(call, region, parameters)
