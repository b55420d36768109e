"""Submitted templates: parsed, acknowledged, expanded and validated with their parameters."""

from collections.abc import Mapping
from typing import Any, Final

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.requests import template_of
from ultracluster_local.cloudformation.stacks import Stack, Submission
from ultracluster_local.cloudformation.templates.parameters import given_parameters, ssm_parameter
from ultracluster_local.cloudformation.templates.skipped_resources import refuse_skipped
from ultracluster_local.cloudformation.templates.transforms import expanded, transforms
from ultracluster_local.cloudformation.templates.validation import validate_template
from ultracluster_local.instance.running import running
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.roles import can_assume

__all__ = ["acknowledgements", "submitted"]

_NAMES_OF_IAM: Final[Mapping[str, str]] = {
    "AWS::IAM::AccessKey": "",
    "AWS::IAM::Group": "GroupName",
    "AWS::IAM::InstanceProfile": "InstanceProfileName",
    "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
    "AWS::IAM::Policy": "",
    "AWS::IAM::Role": "RoleName",
    "AWS::IAM::User": "UserName",
    "AWS::IAM::UserToGroupAddition": "",
}
"""Types that a caller has to acknowledge, and the property that names them: API_CreateStack, Capabilities."""

_TRIGGERS = frozenset({"AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"})
_ALARM = ("arn", "cloudwatch", "alarm")


def submitted(request: Request, *, previous: Stack | None = None, reviewed: bool = False) -> Submission:
    """Return the template of a request.

    Args:
        request: Request of an operation on stacks or change sets.
        previous: Stack that is updated. Default: none.
        reviewed: Whether a person sees the expanded template before its deployment, as in a change set. Default: False.

    Raises:
        ServiceError: If a capability is not acknowledged, or the template or its settings are invalid.
    """
    text, template = template_of(request, previous=previous)
    names = transforms(template)
    acknowledged = set(request.parameters.get("Capabilities") or [])
    if names and not reviewed and "CAPABILITY_AUTO_EXPAND" not in acknowledged:
        raise _incapable("CAPABILITY_AUTO_EXPAND")
    if not names:
        validate_template(template)
    sent = request.parameters.get("Parameters") or []
    parameters = given_parameters(template, sent, previous=previous.parameters if previous else {})
    for name, one in (template.get("Parameters") or {}).items():
        if str(one["Type"]).startswith("AWS::SSM::Parameter::Value<"):
            ssm_parameter(parameters[name], clients=running().clients, region=request.region)
    if names:
        template = expanded(template)
        validate_template(template)
    _refuse_settings(request, template)
    needed = "".join(acknowledgements(template)[0])
    if needed and not acknowledged & {needed, "CAPABILITY_NAMED_IAM"}:
        raise _incapable(needed)
    name = str(request.parameters.get("StackName", "")).rpartition(":stack/")[2].partition("/")[0]
    refuse_skipped(template, parameters, region=request.region, stack=name)
    return Submission(text=text, template=template, parameters=parameters)


def _incapable(capability: str) -> ServiceError:
    return ServiceError("InsufficientCapabilitiesException", f"Requires capabilities : [{capability}]")


def acknowledgements(template: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the capability that a template needs, if any, and the resource types that need it."""
    found = [one for one in template["Resources"].values() if one["Type"] in _NAMES_OF_IAM]
    named = any(_NAMES_OF_IAM[one["Type"]] in (one.get("Properties") or {}) for one in found)
    return (
        [f"CAPABILITY_{'NAMED_' if named else ''}IAM"] if found else [],
        sorted({one["Type"] for one in found}),
    )


def _refuse_settings(request: Request, template: Mapping[str, Any]) -> None:
    """Refuse resource types, a role and rollback triggers: localstack/localstack, test_update_stack.snapshot.json (2022-11-21)."""
    allowed = request.parameters.get("ResourceTypes") or []
    for kind in sorted({one["Type"] for one in template["Resources"].values()}):
        if allowed and not any(_covers(pattern, kind) for pattern in allowed):
            raise ValidationError(
                f"Resource type {kind} is not allowed by parameter ResourceTypes [{', '.join(allowed)}]"
            )
    role = request.parameters.get("RoleARN")
    # The CDK's own role comes with its bootstrap stack, which the local AWS does without.
    if role and ":role/cdk-" not in role and not can_assume("cloudformation.amazonaws.com", role):
        raise ValidationError(f"Role {role} is invalid or cannot be assumed")
    for trigger in (request.parameters.get("RollbackConfiguration") or {}).get("RollbackTriggers") or []:
        if trigger["Type"] not in _TRIGGERS:
            raise ValidationError("Rollback Trigger Type not supported")
        parts = trigger["Arn"].split(":")
        if tuple(parts[part] for part in (0, 2, 5) if len(parts) > part) != _ALARM:
            raise ValidationError("RelativeId of a Rollback Trigger's ARN is incorrect")


def _covers(pattern: str, kind: str) -> bool:
    return kind.startswith(pattern[:-1]) if pattern.endswith("*") else kind == pattern
