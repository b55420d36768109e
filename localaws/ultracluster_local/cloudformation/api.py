"""The CloudFormation API: what the CDK CLI, boto3 and the aws CLI call."""

import json
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.clock import CLOCK
from ultracluster_local.cloudformation.change_sets import describe_changes
from ultracluster_local.cloudformation.drift import detect_drift
from ultracluster_local.cloudformation.engine import delete_stack, deploy_stack, validate_template
from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.parameters import given_parameters
from ultracluster_local.cloudformation.stacks import ChangeSet, Stack, StackResource, Stacks, stacks_of
from ultracluster_local.cloudformation.template import parse
from ultracluster_local.running import running
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers"]

handlers = Handlers(service="cloudformation")

_ONE_AT_A_TIME = threading.RLock()
"""Stacks change one after another: moto's backends are not made for more, and exports need an order."""

_ANSWER_AFTER_SECONDS = 15.0
"""A change that ends sooner answers as done, which saves the CLI's 5 s between polls; SDKs give up after 60 s."""

_NO_CHANGES = (
    "The submitted information didn't contain changes. Submit different information to create a change set."
)


def _run(work: Callable[[], None]) -> None:
    """Do `work` on its own thread, and wait for a while only."""

    def locked() -> None:
        with _ONE_AT_A_TIME:
            work()

    thread = threading.Thread(target=locked, name="local-cloudformation", daemon=True)
    thread.start()
    thread.join(timeout=_ANSWER_AFTER_SECONDS)


def _stacks(request: Request) -> Stacks:
    return stacks_of(request.region)


def _stack(request: Request) -> Stack:
    return _stacks(request).get(request.parameters["StackName"])


def _template(request: Request, *, previous: Stack | None = None) -> tuple[str, dict[str, Any]]:
    """Return the template of a call, as text and parsed, from its body, from S3 or the stack's own."""
    url = request.parameters.get("TemplateURL")
    if url:
        bucket, _, key = url.split("://", 1)[-1].split("/", 1)[-1].partition("/")
        answer = running().clients.get("s3", request.region).get_object(Bucket=bucket, Key=key.split("?")[0])
        text = answer["Body"].read().decode()
    elif request.parameters.get("TemplateBody"):
        text = request.parameters["TemplateBody"]
    elif previous and request.parameters.get("UsePreviousTemplate"):
        text = previous.template_text
    else:
        raise ValidationError("Either Template URL or Template Body must be specified.")
    return text, parse(text)


def _tags(request: Request, previous: Mapping[str, str]) -> dict[str, str]:
    given = request.parameters.get("Tags")
    return dict(previous) if given is None else {tag["Key"]: tag["Value"] for tag in given}


def _settled(stack: Stack) -> None:
    """Refuse what cannot be updated now."""
    if stack.status.endswith("_IN_PROGRESS") or stack.status in {
        "ROLLBACK_COMPLETE",
        "ROLLBACK_FAILED",
        "UPDATE_ROLLBACK_FAILED",
        "DELETE_FAILED",
    }:
        raise ValidationError(f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated.")


# Stacks


@handlers("CreateStack")
def create_stack(request: Request) -> Mapping[str, Any]:
    """Create a stack."""
    name = request.parameters["StackName"]
    stacks = _stacks(request)
    if stacks.find(name):
        raise ServiceError("AlreadyExistsException", f"Stack [{name}] already exists")
    text, template = _template(request)
    validate_template(template)
    parameters = given_parameters(template, request.parameters.get("Parameters") or [], previous={})
    stack = stacks.add(name, status="CREATE_IN_PROGRESS")
    on_failure = request.parameters.get("OnFailure", "ROLLBACK")
    stack.disable_rollback = bool(request.parameters.get("DisableRollback")) or on_failure == "DO_NOTHING"
    stack.termination_protection = bool(request.parameters.get("EnableTerminationProtection"))
    _take_settings(stack, request)

    def work() -> None:
        deploy_stack(
            stack,
            template=template,
            template_text=text,
            parameters=parameters,
            tags=_tags(request, {}),
            verb="CREATE",
            clients=running().clients,
        )
        if stack.status == "ROLLBACK_COMPLETE" and on_failure == "DELETE":
            delete_stack(stack, clients=running().clients)

    _run(work)
    return {"StackId": stack.stack_id}


def _take_settings(stack: Stack, request: Request) -> None:
    stack.capabilities = list(request.parameters.get("Capabilities") or stack.capabilities)
    stack.notification_arns = list(request.parameters.get("NotificationARNs") or stack.notification_arns)
    stack.role_arn = request.parameters.get("RoleARN") or stack.role_arn


@handlers("UpdateStack")
def update_stack(request: Request) -> Mapping[str, Any]:
    """Update a stack."""
    stack = _stack(request)
    _settled(stack)
    text, template = _template(request, previous=stack)
    validate_template(template)
    sent = request.parameters.get("Parameters") or []
    parameters = given_parameters(template, sent, previous=stack.parameters)
    tags = _tags(request, stack.tags)
    if template == stack.template and parameters == stack.parameters and tags == stack.tags:
        raise ValidationError("No updates are to be performed.")
    stack.disable_rollback = bool(request.parameters.get("DisableRollback"))
    _take_settings(stack, request)
    _run(
        lambda: deploy_stack(
            stack,
            template=template,
            template_text=text,
            parameters=parameters,
            tags=tags,
            verb="UPDATE",
            clients=running().clients,
        )
    )
    return {"StackId": stack.stack_id}


@handlers("DeleteStack")
def delete(request: Request) -> Mapping[str, Any]:
    """Delete a stack; one that is not there is deleted already."""
    stack = _stacks(request).find(request.parameters["StackName"])
    if stack is None or stack.status == "DELETE_COMPLETE":
        return {}
    if stack.termination_protection:
        raise ValidationError(
            f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
        )
    retain = frozenset(request.parameters.get("RetainResources") or [])
    _run(lambda: delete_stack(stack, clients=running().clients, retain=retain))
    _forget_change_sets(_stacks(request), stack)
    return {}


def _forget_change_sets(stacks: Stacks, stack: Stack) -> None:
    for key in [key for key, one in stacks.change_sets.items() if one.stack is stack]:
        del stacks.change_sets[key]


@handlers("UpdateTerminationProtection")
def update_termination_protection(request: Request) -> Mapping[str, Any]:
    """Protect a stack from deletion, or no longer."""
    stack = _stack(request)
    stack.termination_protection = bool(request.parameters["EnableTerminationProtection"])
    return {"StackId": stack.stack_id}


@handlers("DescribeStacks")
def describe_stacks(request: Request) -> Mapping[str, Any]:
    """Show one stack, or all living ones."""
    if request.parameters.get("StackName"):
        return {"Stacks": [_shown(_stack(request))]}
    shown = [_shown(stack) for stack in _stacks(request).living()]
    return page(shown, parameters=request.parameters, key="Stacks")


def _shown(stack: Stack) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "StackId": stack.stack_id,
        "StackName": stack.name,
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": part} for key, part in stack.parameters.items()
        ],
        "CreationTime": stack.created,
        "RollbackConfiguration": {"RollbackTriggers": []},
        "StackStatus": stack.status,
        "DisableRollback": stack.disable_rollback,
        "NotificationARNs": stack.notification_arns,
        "Capabilities": stack.capabilities,
        "Outputs": stack.outputs,
        "Tags": [{"Key": key, "Value": part} for key, part in stack.tags.items()],
        "EnableTerminationProtection": stack.termination_protection,
        "DriftInformation": {"StackDriftStatus": _drift_status(stack) if stack.drift else "NOT_CHECKED"},
    }
    optional = {
        "StackStatusReason": stack.reason,
        "Description": stack.description,
        "RoleARN": stack.role_arn,
        "LastUpdatedTime": stack.updated,
        "DeletionTime": stack.deleted,
    }
    return shown | {key: part for key, part in optional.items() if part}


@handlers("ListStacks")
def list_stacks(request: Request) -> Mapping[str, Any]:
    """Name all stacks, deleted ones too."""
    wanted = request.parameters.get("StackStatusFilter") or []
    shown = [
        _shown(stack) for stack in _stacks(request).stacks.values() if not wanted or stack.status in wanted
    ]
    return page(shown, parameters=request.parameters, key="StackSummaries")


@handlers("GetTemplate")
def get_template(request: Request) -> Mapping[str, Any]:
    """Return the template as it was sent."""
    if request.parameters.get("ChangeSetName"):
        text = _change_set(request).template_text
    else:
        text = _stack(request).template_text
    return {"TemplateBody": text, "StagesAvailable": ["Original", "Processed"]}


@handlers("GetTemplateSummary")
def get_template_summary(request: Request) -> Mapping[str, Any]:
    """Name the parameters and types of a template."""
    if request.parameters.get("StackName"):
        template: Mapping[str, Any] = _stack(request).template
    else:
        _, template = _template(request)
    parameters = [
        {
            "ParameterKey": key,
            "ParameterType": one.get("Type", "String"),
            "NoEcho": bool(one.get("NoEcho")),
            **({"DefaultValue": str(one["Default"])} if "Default" in one else {}),
        }
        for key, one in (template.get("Parameters") or {}).items()
    ]
    types = sorted({one["Type"] for one in (template.get("Resources") or {}).values()})
    return {
        "Parameters": parameters,
        "ResourceTypes": types,
        "Description": template.get("Description") or "",
    }


@handlers("ValidateTemplate")
def validate(request: Request) -> Mapping[str, Any]:
    """Check a template as a deployment would."""
    _, template = _template(request)
    validate_template(template)
    return {"Description": template.get("Description") or "", "Parameters": [], "Capabilities": []}


@handlers("DescribeStackEvents")
def describe_stack_events(request: Request) -> Mapping[str, Any]:
    """Show the history, newest first."""
    return page(_stack(request).events[::-1], parameters=request.parameters, key="StackEvents")


# Resources


def _shown_resource(stack: Stack, resource: StackResource) -> dict[str, Any]:
    return {
        "StackName": stack.name,
        "StackId": stack.stack_id,
        "LogicalResourceId": resource.logical_id,
        "PhysicalResourceId": resource.physical_id,
        "ResourceType": resource.resource_type,
        "ResourceStatus": resource.status,
        "Timestamp": resource.changed,
        "LastUpdatedTimestamp": resource.changed,
        "DriftInformation": {"StackResourceDriftStatus": "NOT_CHECKED"},
    }


@handlers("DescribeStackResource")
def describe_stack_resource(request: Request) -> Mapping[str, Any]:
    """Show one resource."""
    stack = _stack(request)
    name = request.parameters["LogicalResourceId"]
    if name not in stack.resources:
        raise ValidationError(f"Resource {name} does not exist for stack {stack.name}")
    metadata = json.dumps(stack.resources[name].definition.get("Metadata") or {})
    return {"StackResourceDetail": _shown_resource(stack, stack.resources[name]) | {"Metadata": metadata}}


@handlers("DescribeStackResources")
def describe_stack_resources(request: Request) -> Mapping[str, Any]:
    """Show the resources of a stack, or the one with a physical id and its neighbours."""
    physical_id = request.parameters.get("PhysicalResourceId")
    if physical_id:
        for stack in _stacks(request).living():
            if any(one.physical_id == physical_id for one in stack.resources.values()):
                break
        else:
            raise ValidationError(f"Stack for {physical_id} does not exist")
    else:
        stack = _stack(request)
    wanted = request.parameters.get("LogicalResourceId")
    shown = [
        _shown_resource(stack, one) for name, one in stack.resources.items() if not wanted or name == wanted
    ]
    return {"StackResources": shown}


@handlers("ListStackResources")
def list_stack_resources(request: Request) -> Mapping[str, Any]:
    """Name the resources of a stack."""
    stack = _stack(request)
    shown = [_shown_resource(stack, one) for one in stack.resources.values()]
    return page(shown, parameters=request.parameters, key="StackResourceSummaries")


# Exports


@handlers("ListExports")
def list_exports(request: Request) -> Mapping[str, Any]:
    """Show what stacks export."""
    shown = [
        {"ExportingStackId": owner.stack_id, "Name": name, "Value": value}
        for name, (owner, value) in _stacks(request).exports().items()
    ]
    return page(shown, parameters=request.parameters, key="Exports")


@handlers("ListImports")
def list_imports(request: Request) -> Mapping[str, Any]:
    """Name the stacks that import an export."""
    name = request.parameters["ExportName"]
    users = _stacks(request).importers(name)
    if not users:
        raise ValidationError(f"Export '{name}' is not imported by any stack.")
    return page(users, parameters=request.parameters, key="Imports")


# Change sets


@handlers("CreateChangeSet")
def create_change_set(request: Request) -> Mapping[str, Any]:
    """Plan a change; one that changes nothing is FAILED, as on CloudFormation."""
    stacks, name = _stacks(request), request.parameters["StackName"]
    stack = stacks.find(name)
    kind = request.parameters.get("ChangeSetType", "UPDATE")
    if kind == "IMPORT":
        raise ValidationError("The local AWS cannot import resources.")
    if stack is None and kind == "UPDATE":
        raise ValidationError(f"Stack [{name}] does not exist")
    if stack and kind == "CREATE" and stack.status != "REVIEW_IN_PROGRESS":
        raise ValidationError(
            f"Stack [{name}] already exists and cannot be created again with the changeSet [CREATE]."
        )
    if stack and kind == "UPDATE":
        _settled(stack)
    text, template = _template(request, previous=stack)
    validate_template(template)
    previous = stack.parameters if stack else {}
    parameters = given_parameters(template, request.parameters.get("Parameters") or [], previous=previous)
    if stack is None:
        stack = stacks.add(name, status="REVIEW_IN_PROGRESS")
        stack.enter("REVIEW_IN_PROGRESS", reason="User Initiated")
    given = request.parameters["ChangeSetName"]
    if any(one.name == given and one.stack is stack for one in stacks.change_sets.values()):
        raise ServiceError(
            "AlreadyExistsException", f"ChangeSet {given} cannot be created: it exists already"
        )
    change_set = ChangeSet(
        name=given,
        change_set_id=request.arn("cloudformation", f"changeSet/{given}/{uuid.uuid4()}"),
        stack=stack,
        change_set_type=kind,
        template_text=text,
        template=template,
        parameters=parameters,
        tags=_tags(request, stack.tags),
        description=request.parameters.get("Description"),
        created=CLOCK.now(),
        capabilities=list(request.parameters.get("Capabilities") or []),
        notification_arns=list(request.parameters.get("NotificationARNs") or []),
        role_arn=request.parameters.get("RoleARN"),
        on_stack_failure=request.parameters.get("OnStackFailure"),
    )
    try:
        change_set.changes = describe_changes(stack, template, parameters, clients=running().clients)
    except ValidationError as error:
        change_set.status, change_set.execution_status, change_set.reason = (
            "FAILED",
            "UNAVAILABLE",
            error.message,
        )
    else:
        if kind == "UPDATE" and not change_set.changes and not _other_changes(stack, change_set):
            change_set.status, change_set.execution_status, change_set.reason = (
                "FAILED",
                "UNAVAILABLE",
                _NO_CHANGES,
            )
    stacks.change_sets[change_set.change_set_id] = change_set
    return {"Id": change_set.change_set_id, "StackId": stack.stack_id}


def _other_changes(stack: Stack, change_set: ChangeSet) -> bool:
    """Whether something besides resources changes: outputs or the stack's tags."""
    same_outputs = (stack.template.get("Outputs") or {}) == (change_set.template.get("Outputs") or {})
    return not same_outputs or stack.tags != change_set.tags


def _change_set(request: Request) -> ChangeSet:
    stacks, wanted = _stacks(request), request.parameters["ChangeSetName"]
    if wanted in stacks.change_sets:
        return stacks.change_sets[wanted]
    stack_name = request.parameters.get("StackName")
    if stack_name:
        stack = stacks.get(stack_name)
        for one in stacks.change_sets.values():
            if one.name == wanted and one.stack is stack:
                return one
    raise ServiceError("ChangeSetNotFound", f"ChangeSet [{wanted}] does not exist")


@handlers("DescribeChangeSet")
def describe_change_set(request: Request) -> Mapping[str, Any]:
    """Show a plan; values of properties only if they are asked for."""
    change_set = _change_set(request)
    changes = change_set.changes
    if not request.parameters.get("IncludePropertyValues"):
        changes = [_without_values(change) for change in changes]
    shown: dict[str, Any] = {
        "ChangeSetName": change_set.name,
        "ChangeSetId": change_set.change_set_id,
        "StackId": change_set.stack.stack_id,
        "StackName": change_set.stack.name,
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": part} for key, part in change_set.parameters.items()
        ],
        "CreationTime": change_set.created,
        "ExecutionStatus": change_set.execution_status,
        "Status": change_set.status,
        "StatusReason": change_set.reason,
        "NotificationARNs": change_set.notification_arns,
        "RollbackConfiguration": {},
        "Capabilities": change_set.capabilities,
        "Tags": [{"Key": key, "Value": part} for key, part in change_set.tags.items()],
        "IncludeNestedStacks": False,
    }
    if change_set.description:
        shown["Description"] = change_set.description
    return shown | page(changes, parameters=request.parameters, key="Changes")


def _without_values(change: Mapping[str, Any]) -> dict[str, Any]:
    hidden = {"BeforeContext", "AfterContext"}
    resource = {key: part for key, part in change["ResourceChange"].items() if key not in hidden}
    values = {"BeforeValue", "AfterValue", "Path", "AttributeChangeType"}
    resource["Details"] = [
        {**detail, "Target": {key: part for key, part in detail["Target"].items() if key not in values}}
        for detail in resource["Details"]
    ]
    return {**change, "ResourceChange": resource}


@handlers("ListChangeSets")
def list_change_sets(request: Request) -> Mapping[str, Any]:
    """Name the plans of a stack."""
    stack = _stack(request)
    shown = [
        {
            "StackId": stack.stack_id,
            "StackName": stack.name,
            "ChangeSetId": one.change_set_id,
            "ChangeSetName": one.name,
            "ExecutionStatus": one.execution_status,
            "Status": one.status,
            "StatusReason": one.reason,
            "CreationTime": one.created,
        }
        for one in _stacks(request).change_sets.values()
        if one.stack is stack
    ]
    return page(shown, parameters=request.parameters, key="Summaries")


@handlers("DeleteChangeSet")
def delete_change_set(request: Request) -> Mapping[str, Any]:
    """Forget a plan; one that is not there is deleted already."""
    try:
        change_set = _change_set(request)
    except ServiceError as error:
        if error.code == "ChangeSetNotFound":
            return {}
        raise
    del _stacks(request).change_sets[change_set.change_set_id]
    return {}


@handlers("ExecuteChangeSet")
def execute_change_set(request: Request) -> Mapping[str, Any]:
    """Do what was planned."""
    change_set = _change_set(request)
    if change_set.execution_status != "AVAILABLE":
        raise ServiceError(
            "InvalidChangeSetStatus",
            f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current status of"
            f" [{change_set.status}]",
        )
    stack = change_set.stack
    change_set.execution_status = "EXECUTE_IN_PROGRESS"
    no_rollback = request.parameters.get("DisableRollback") or change_set.on_stack_failure == "DO_NOTHING"
    stack.disable_rollback = bool(no_rollback)
    stack.capabilities = change_set.capabilities or stack.capabilities
    stack.notification_arns = change_set.notification_arns or stack.notification_arns
    stack.role_arn = change_set.role_arn or stack.role_arn

    def work() -> None:
        deploy_stack(
            stack,
            template=change_set.template,
            template_text=change_set.template_text,
            parameters=change_set.parameters,
            tags=change_set.tags,
            verb=change_set.change_set_type,
            clients=running().clients,
        )
        succeeded = stack.status in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
        change_set.execution_status = "EXECUTE_COMPLETE" if succeeded else "EXECUTE_FAILED"
        if stack.status == "ROLLBACK_COMPLETE" and change_set.on_stack_failure == "DELETE":
            delete_stack(stack, clients=running().clients)
        _forget_change_sets(stacks_of(stack.region), stack)

    _run(work)
    return {}


# Drift


@handlers("DetectStackDrift")
def detect_stack_drift(request: Request) -> Mapping[str, Any]:
    """Compare a stack with what its services show."""
    stack = _stack(request)
    with _ONE_AT_A_TIME:
        detect_drift(stack, clients=running().clients)
    return {"StackDriftDetectionId": f"{uuid.uuid4()}|{stack.stack_id}"}


def _drift_status(stack: Stack) -> str:
    return "DRIFTED" if _drifted(stack) else "IN_SYNC"


def _drifted(stack: Stack) -> int:
    return sum(one["StackResourceDriftStatus"] != "IN_SYNC" for one in stack.drift)


@handlers("DescribeStackDriftDetectionStatus")
def describe_stack_drift_detection_status(request: Request) -> Mapping[str, Any]:
    """Say how the comparison ended."""
    detection = request.parameters["StackDriftDetectionId"]
    stack = _stacks(request).get(detection.partition("|")[2])
    return {
        "StackId": stack.stack_id,
        "StackDriftDetectionId": detection,
        "StackDriftStatus": _drift_status(stack),
        "DetectionStatus": "DETECTION_COMPLETE",
        "DriftedStackResourceCount": _drifted(stack),
        "Timestamp": CLOCK.now(),
    }


@handlers("DescribeStackResourceDrifts")
def describe_stack_resource_drifts(request: Request) -> Mapping[str, Any]:
    """Show what differs."""
    wanted = request.parameters.get("StackResourceDriftStatusFilters") or []
    shown = [one for one in _stack(request).drift if not wanted or one["StackResourceDriftStatus"] in wanted]
    return page(shown, parameters=request.parameters, key="StackResourceDrifts")
