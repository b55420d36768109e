"""CloudFormation API operations on stacks."""

import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation import nested_stacks
from ultracluster_local.cloudformation.change_sets.api import change_set_of
from ultracluster_local.cloudformation.engine import delete_stack, deploy_stack
from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.requests import (
    refuse_unsettled,
    run_change,
    stack_of,
    stack_tags,
    template_of,
)
from ultracluster_local.cloudformation.resource_types import PROVIDERS
from ultracluster_local.cloudformation.stacks import STACK_TYPE, Stack, StackResource, stacks_of
from ultracluster_local.cloudformation.submissions import acknowledgements, submitted
from ultracluster_local.cloudformation.templates.parsing import parse
from ultracluster_local.cloudformation.templates.transforms import transforms
from ultracluster_local.cloudformation.templates.validation import validate_template
from ultracluster_local.instance.clients import service_model
from ultracluster_local.instance.running import running
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers"]

handlers = Handlers(service="cloudformation")

PROVIDERS.update(nested_stacks.PROVIDERS)  # here, because deployments of nested stacks need the engine


# Stacks


@handlers("CreateStack")
def create_stack(request: Request) -> Mapping[str, Any]:
    """Create a stack."""
    name = request.parameters["StackName"]
    stacks = stacks_of(request.region)
    if stacks.find(name):
        raise ServiceError("AlreadyExistsException", f"Stack [{name}] already exists")
    given = submitted(request)
    stack = stacks.add(name, status="CREATE_IN_PROGRESS")
    on_failure = request.parameters.get("OnFailure", "ROLLBACK")
    stack.disable_rollback = bool(request.parameters.get("DisableRollback")) or on_failure == "DO_NOTHING"
    stack.termination_protection = bool(request.parameters.get("EnableTerminationProtection"))
    _take_settings(stack, request)

    def work() -> None:
        deploy_stack(stack, given, tags=stack_tags(request, {}), verb="CREATE", clients=running().clients)
        if stack.status == "ROLLBACK_COMPLETE" and on_failure == "DELETE":
            delete_stack(stack, clients=running().clients)

    run_change(work)
    return {"StackId": stack.stack_id}


def _take_settings(stack: Stack, request: Request) -> None:
    stack.capabilities = list(request.parameters.get("Capabilities") or stack.capabilities)
    stack.notification_arns = list(request.parameters.get("NotificationARNs") or stack.notification_arns)
    stack.role_arn = request.parameters.get("RoleARN") or stack.role_arn


@handlers("UpdateStack")
def update_stack(request: Request) -> Mapping[str, Any]:
    """Update a stack."""
    stack = stack_of(request)
    refuse_unsettled(stack)
    given = submitted(request, previous=stack)
    tags = stack_tags(request, stack.tags)
    same = (given.template, given.parameters, tags) == (stack.template, stack.parameters, stack.tags)
    if same and STACK_TYPE not in {one["Type"] for one in given.template["Resources"].values()}:
        raise ValidationError("No updates are to be performed.")
    stack.disable_rollback = bool(request.parameters.get("DisableRollback"))
    _take_settings(stack, request)

    def work() -> None:
        deploy_stack(stack, given, tags=tags, verb="UPDATE", clients=running().clients)
        for change_set in stacks_of(request.region).change_sets.values():
            if change_set.stack is stack:
                change_set.execution_status = "OBSOLETE"

    run_change(work)
    return {"StackId": stack.stack_id}


@handlers("DeleteStack")
def delete(request: Request) -> Mapping[str, Any]:
    """Delete a stack; a missing one is no error."""
    stack = stacks_of(request.region).find(request.parameters["StackName"])
    if stack is None or stack.status == "DELETE_COMPLETE":
        return {}
    if stack.termination_protection:
        raise ValidationError(
            f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
        )
    if request.parameters.get("RetainResources") and stack.status != "DELETE_FAILED":
        raise ValidationError(
            f"Stack [{stack.name}] is in {stack.status} state: RetainResources is for stacks in the DELETE_FAILED state."
        )
    retain = frozenset(request.parameters.get("RetainResources") or [])
    run_change(lambda: delete_stack(stack, clients=running().clients, retain=retain))
    stacks_of(request.region).forget_change_sets(stack)
    return {}


@handlers("UpdateTerminationProtection")
def update_termination_protection(request: Request) -> Mapping[str, Any]:
    """Enable or disable termination protection."""
    stack = stack_of(request)
    stack.termination_protection = bool(request.parameters["EnableTerminationProtection"])
    return {"StackId": stack.stack_id}


@handlers("DescribeStacks")
def describe_stacks(request: Request) -> Mapping[str, Any]:
    """Describe one stack, or all that are not deleted."""
    if request.parameters.get("StackName"):
        return {"Stacks": [_shown(stack_of(request))]}
    shown = [_shown(stack) for stack in stacks_of(request.region).living()]
    return page(shown, parameters=request.parameters, key="Stacks")


def _shown(stack: Stack) -> dict[str, Any]:
    declared = (stack.template or {}).get("Parameters") or {}
    hidden = {name for name, one in declared.items() if _is_hidden(one)}
    shown: dict[str, Any] = {
        "StackId": stack.stack_id,
        "StackName": stack.name,
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": "****" if key in hidden else part}
            for key, part in stack.parameters.items()
        ],
        "CreationTime": stack.created,
        "StackStatus": stack.status,
        "DisableRollback": stack.disable_rollback,
        "NotificationARNs": stack.notification_arns,
        "Tags": [{"Key": key, "Value": part} for key, part in stack.tags.items()],
    }
    optional = {
        "Outputs": stack.outputs,
        "StackStatusReason": stack.reason,
        "Description": stack.description,
        "RoleARN": stack.role_arn,
        "ParentId": stack.parent_id,
        "RootId": stack.root_id,
        "LastUpdatedTime": stack.updated,
        "DeletionTime": stack.deleted,
    }
    if not stack.deleted:
        shown |= {
            "Capabilities": stack.capabilities,
            "ChangeSetId": stack.change_set_id,
            "EnableTerminationProtection": stack.termination_protection,
        }
    return shown | {key: part for key, part in optional.items() if part}


@handlers("ListStacks")
def list_stacks(request: Request) -> Mapping[str, Any]:
    """List all stacks, including deleted ones."""
    wanted = request.parameters.get("StackStatusFilter") or []
    shown = [
        _summary(stack)
        for stack in stacks_of(request.region).stacks.values()
        if not wanted or stack.status in wanted
    ]
    return page(shown, parameters=request.parameters, key="StackSummaries")


def _summary(stack: Stack) -> dict[str, Any]:
    described = _shown(stack)
    if "Description" in described:
        described["TemplateDescription"] = described["Description"]
    members = service_model("cloudformation").shape_for("StackSummary").members
    return {key: described[key] for key in members if key in described}


@handlers("GetTemplate")
def get_template(request: Request) -> Mapping[str, Any]:
    """Return the template as it was sent."""
    if request.parameters.get("ChangeSetName"):
        text = change_set_of(request).submission.text
    elif not request.parameters.get("StackName"):
        raise ValidationError("StackName is required if ChangeSetName is not specified.")
    else:
        text = stack_of(request).template_text
    return {"TemplateBody": text, "StagesAvailable": ["Original", "Processed"]}


@handlers("ValidateTemplate")
def validate(request: Request) -> Mapping[str, Any]:
    """Validate a template as a deployment would."""
    _, template = template_of(request)
    declared = transforms(template)
    if not declared:
        validate_template(template)
    return _declarations(template, "TemplateParameter")


def _declarations(template: Mapping[str, Any], parameter: str) -> dict[str, Any]:
    """Return what a template declares; `parameter` is the shape of its parameters."""
    (capabilities, types), names = acknowledgements(template), list(transforms(template))
    members = service_model("cloudformation").shape_for(parameter).members
    parameters = [
        {
            "ParameterKey": name,
            "ParameterType": one["Type"],
            "NoEcho": _is_hidden(one),
            "DefaultValue": str(one["Default"]) if "Default" in one else None,
            "Description": one.get("Description"),
            "ParameterConstraints": {
                key: list(map(str, one[key])) for key in ("AllowedValues",) if key in one
            },
        }
        for name, one in (template.get("Parameters") or {}).items()
    ]
    shown: dict[str, Any] = {
        "Description": template.get("Description") or "",
        "Parameters": [{key: one[key] for key in members if one.get(key) is not None} for one in parameters],
        "Capabilities": [*capabilities, *(["CAPABILITY_AUTO_EXPAND"] if names else [])],
        "DeclaredTransforms": names,
    }
    if types:
        reason = f"The following resource(s) require capabilities: [{', '.join(types)}]"
        shown["CapabilitiesReason"] = reason
    return shown


def _is_hidden(parameter: Mapping[str, Any]) -> bool:
    return str(parameter.get("NoEcho", False)).lower() == "true"


@handlers("GetTemplateSummary")
def get_template_summary(request: Request) -> Mapping[str, Any]:
    """Describe what a template declares: that of a stack, or one that is not deployed."""
    stack = stack_of(request) if request.parameters.get("StackName") else None
    if stack is not None and stack.status == "REVIEW_IN_PROGRESS":
        raise ValidationError("GetTemplateSummary cannot be called on REVIEW_IN_PROGRESS stacks.")
    template = parse(stack.template_text) if stack else template_of(request)[1]
    kinds: dict[str, dict[str, Any]] = {}
    for name, kind in ((name, one["Type"]) for name, one in template["Resources"].items()):
        made_up, identifiers = schemas.read_only(kind) if schemas.is_known(kind) else ((), frozenset())
        row = {
            "ResourceType": kind,
            "LogicalResourceIds": [],
            "ResourceIdentifiers": sorted(identifiers - {*made_up}),
        }
        kinds.setdefault(kind, row)["LogicalResourceIds"].append(name)
    return _declarations(template, "ParameterDeclaration") | {
        "ResourceTypes": list(kinds),
        "ResourceIdentifierSummaries": list(kinds.values()),
        "Version": str(template.get("AWSTemplateFormatVersion", "2010-09-09")),
        "Metadata": str(template.get("Metadata") or ""),
    }


@handlers("CancelUpdateStack")
@handlers("ContinueUpdateRollback")
def refuse_state(request: Request) -> Mapping[str, Any]:
    """Refuse to meddle with a stack: here, updates end before they are answered."""
    if stack_of(request).status in {"UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_FAILED"}:
        raise ServiceError("UnsupportedOperation", f"The local AWS does not simulate {request.operation}.")
    raise ValidationError(f"{request.operation} cannot be called from current stack status")


@handlers("DescribeStackEvents")
def describe_stack_events(request: Request) -> Mapping[str, Any]:
    """Describe the events of a stack, newest first."""
    return page(stack_of(request).events[::-1], parameters=request.parameters, key="StackEvents")


# Resources


def _shown_resource(resource: StackResource, *, time: str = "LastUpdatedTimestamp") -> dict[str, Any]:
    return {
        "LogicalResourceId": resource.logical_id,
        "PhysicalResourceId": resource.physical_id,
        "ResourceType": resource.resource_type,
        "ResourceStatus": resource.status,
        time: resource.changed,
        "DriftInformation": {"StackResourceDriftStatus": "NOT_CHECKED"},
    }


@handlers("DescribeStackResource")
def describe_stack_resource(request: Request) -> Mapping[str, Any]:
    """Describe one resource."""
    stack = stack_of(request)
    name = request.parameters["LogicalResourceId"]
    if name not in stack.resources:
        raise ValidationError(f"Resource {name} does not exist for stack {stack.name}")
    metadata = json.dumps(stack.resources[name].definition.get("Metadata") or {})
    owner = {"StackName": stack.name, "StackId": stack.stack_id}
    return {"StackResourceDetail": owner | _shown_resource(stack.resources[name]) | {"Metadata": metadata}}


@handlers("DescribeStackResources")
def describe_stack_resources(request: Request) -> Mapping[str, Any]:
    """Describe the resources of a stack, named directly or by the physical ID of one of them."""
    physical_id = request.parameters.get("PhysicalResourceId")
    if physical_id:
        for stack in stacks_of(request.region).living():
            if any(one.physical_id == physical_id for one in stack.resources.values()):
                break
        else:
            raise ValidationError(f"Stack for {physical_id} does not exist")
    else:
        stack = stack_of(request)
    wanted = request.parameters.get("LogicalResourceId")
    owner = {"StackName": stack.name, "StackId": stack.stack_id}
    shown = [
        owner | _shown_resource(one, time="Timestamp")
        for name, one in stack.resources.items()
        if not wanted or name == wanted
    ]
    return {"StackResources": shown}


@handlers("ListStackResources")
def list_stack_resources(request: Request) -> Mapping[str, Any]:
    """List the resources of a stack."""
    stack = stack_of(request)
    shown = [_shown_resource(one) for one in stack.resources.values()]
    return page(shown, parameters=request.parameters, key="StackResourceSummaries")


# Types


@handlers("ListTypes")
def list_types(request: Request) -> Mapping[str, Any]:
    """List the public resource types; nobody has registered private ones, modules or hooks."""
    given = request.parameters
    prefix = (given.get("Filters") or {}).get("TypeNamePrefix", "")
    public = given.get("Visibility", "PRIVATE") == "PUBLIC" and given.get("Type", "RESOURCE") == "RESOURCE"
    shown = [
        {
            "Type": "RESOURCE",
            "TypeName": name,
            "TypeArn": f"arn:aws:cloudformation:{request.region}::type/resource/{name.replace('::', '-')}",
        }
        for name in schemas.type_names()
        if public and name.startswith(prefix)
    ]
    return page(shown, parameters=given, key="TypeSummaries")


# Exports


@handlers("ListExports")
def list_exports(request: Request) -> Mapping[str, Any]:
    """List the exports of all stacks."""
    shown = [
        {"ExportingStackId": owner.stack_id, "Name": name, "Value": value}
        for name, (owner, value) in stacks_of(request.region).exports().items()
    ]
    return page(shown, parameters=request.parameters, key="Exports")


@handlers("ListImports")
def list_imports(request: Request) -> Mapping[str, Any]:
    """List the stacks that import an export."""
    name = request.parameters["ExportName"]
    users = stacks_of(request.region).importers(name)
    if not users:
        raise ValidationError(f"Export '{name}' is not imported by any stack.")
    return page(users, parameters=request.parameters, key="Imports")
