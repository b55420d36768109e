"""CloudFormation API operations on self-managed StackSets: one template, a stack in each of several Regions.

There is one account. Service-managed StackSets, which never deploy to the management account, are refused.
"""

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.requests import template_of
from ultracluster_local.cloudformation.templates.parameters import given_parameters
from ultracluster_local.cloudformation.templates.validation import validate_template
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["handlers"]

handlers = Handlers(service="cloudformation")

_ANSWER_AFTER_SECONDS = 15.0  # as long as a stack operation; longer ones are RUNNING until they end
_POLL_SECONDS = 0.2


@dataclass(kw_only=True, slots=True)
class _Instance:
    """A stack instance of a StackSet."""

    region: str
    overrides: list[Mapping[str, Any]]
    stack_id: str = ""
    status: str = "OUTDATED"
    reason: str = ""


@dataclass(kw_only=True, slots=True)
class _Operation:
    """An operation on the stack instances of a StackSet."""

    operation_id: str
    action: str
    begun: datetime
    status: str = "RUNNING"
    ended: datetime | None = None
    results: list[dict[str, str]] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class _StackSet:
    """A StackSet."""

    name: str
    stack_set_id: str
    template_text: str
    template_source: Mapping[str, str]
    template: Mapping[str, Any]
    parameters: list[Mapping[str, Any]]
    capabilities: list[str]
    instances: dict[str, _Instance] = field(default_factory=dict)
    operations: dict[str, _Operation] = field(default_factory=dict)


def _stack_sets(request: Request) -> dict[str, _StackSet]:
    return region_state("stack sets", region=request.region, new=dict)


def _stack_set_of(request: Request) -> _StackSet:
    name = request.parameters["StackSetName"]
    found = _stack_sets(request).get(name.partition(":")[0])
    if found is None:
        raise ServiceError("StackSetNotFoundException", f"StackSet {name} not found")
    return found


@handlers("CreateStackSet")
def create_stack_set(request: Request) -> Mapping[str, Any]:
    """Create a StackSet without stack instances."""
    name, sets = request.parameters["StackSetName"], _stack_sets(request)
    if request.parameters.get("PermissionModel", "SELF_MANAGED") != "SELF_MANAGED":
        raise ValidationError("The local AWS has one account and does not support service-managed StackSets")
    if name in sets:
        raise ServiceError("NameAlreadyExistsException", f"The Name {name} already exists")
    text, template = template_of(request)
    validate_template(template)
    parameters = list(request.parameters.get("Parameters") or [])
    given_parameters(template, parameters, previous={})
    sets[name] = _StackSet(
        name=name,
        stack_set_id=f"{name}:{uuid.uuid4()}",
        template_text=text,
        # A template URL is passed on as a URL: a body has at most 51,200 bytes.
        template_source={
            key: value for key in ("TemplateURL", "TemplateBody") if (value := request.parameters.get(key))
        },
        template=template,
        parameters=parameters,
        capabilities=list(request.parameters.get("Capabilities") or []),
    )
    return {"StackSetId": sets[name].stack_set_id}


@handlers("DescribeStackSet")
def describe_stack_set(request: Request) -> Mapping[str, Any]:
    """Describe a StackSet."""
    found = _stack_set_of(request)
    return {
        "StackSet": {
            "StackSetName": found.name,
            "StackSetId": found.stack_set_id,
            "Status": "ACTIVE",
            "TemplateBody": found.template_text,
            "Parameters": found.parameters,
            "Capabilities": found.capabilities,
            "PermissionModel": "SELF_MANAGED",
        }
    }


@handlers("DeleteStackSet")
def delete_stack_set(request: Request) -> Mapping[str, Any]:
    """Delete a StackSet that has no stacks."""
    found = _stack_set_of(request)
    if found.instances:
        raise ServiceError("StackSetNotEmptyException", "StackSet is not empty")
    del _stack_sets(request)[found.name]
    return {}


@handlers("CreateStackInstances")
def create_stack_instances(request: Request) -> Mapping[str, Any]:
    """Create stacks Region by Region; the first failure cancels the rest."""
    found = _stack_set_of(request)
    overrides = list(request.parameters.get("ParameterOverrides") or [])
    given_parameters(found.template, [*found.parameters, *overrides], previous={})
    regions = [region for region in _regions(request) if region not in found.instances]

    def create(region: str) -> str:
        instance = found.instances.setdefault(region, _Instance(region=region, overrides=overrides))
        cloudformation = running().clients.get("cloudformation", region)
        chosen = {one["ParameterKey"]: one for one in (*found.parameters, *overrides)}
        try:
            instance.stack_id = cloudformation.create_stack(
                StackName=f"StackSet-{found.name}-{uuid.uuid4()}",
                **found.template_source,
                Parameters=list(chosen.values()),
                Capabilities=found.capabilities,
            )["StackId"]
        except ClientError as error:
            instance.reason = str(error)
            return instance.reason
        status = _settled(cloudformation, instance.stack_id)
        good = status == "CREATE_COMPLETE"
        instance.status, instance.reason = ("CURRENT", "") if good else ("OUTDATED", f"the stack is {status}")
        return instance.reason

    return _operate(found, "CREATE", regions, create)


@handlers("DeleteStackInstances")
def delete_stack_instances(request: Request) -> Mapping[str, Any]:
    """Delete the stacks of some Regions, or only forget them."""
    found, regions = _stack_set_of(request), _regions(request)
    if unknown := [region for region in regions if region not in found.instances]:
        raise ServiceError("StackInstanceNotFoundException", f"No stack instances in {', '.join(unknown)}")

    def delete(region: str) -> str:
        stack_id = found.instances[region].stack_id
        if stack_id and not request.parameters["RetainStacks"]:
            cloudformation = running().clients.get("cloudformation", region)
            try:
                cloudformation.delete_stack(StackName=stack_id)
            except ClientError as error:
                return str(error)
            if (status := _settled(cloudformation, stack_id)) != "DELETE_COMPLETE":
                found.instances[region].status = "INOPERABLE"
                return f"the stack is {status}"
        del found.instances[region]
        return ""

    return _operate(found, "DELETE", regions, delete)


def _regions(request: Request) -> list[str]:
    others = set(request.parameters.get("Accounts") or []) - {ACCOUNT}
    if others or not request.parameters.get("Accounts"):
        raise ValidationError(f"The local AWS has only the account {ACCOUNT}; specify it in Accounts")
    return list(dict.fromkeys(request.parameters["Regions"]))


def _settled(cloudformation: Any, stack_id: str) -> str:
    """Wait for the operation on a stack to end, and return the status."""
    while True:
        (stack,) = cloudformation.describe_stacks(StackName=stack_id)["Stacks"]
        status: str = stack["StackStatus"]
        if not status.endswith("_IN_PROGRESS"):
            return status
        threading.Event().wait(_POLL_SECONDS)


def _operate(
    found: _StackSet, action: str, regions: list[str], change: Callable[[str], str]
) -> Mapping[str, Any]:
    """Run `change`, which returns a failure reason, Region by Region in a separate thread."""
    if any(each.status == "RUNNING" for each in found.operations.values()):
        raise ServiceError("OperationInProgressException", "Another Operation on StackSet is in progress")
    operation = _Operation(operation_id=str(uuid.uuid4()), action=action, begun=CLOCK.now())
    found.operations[operation.operation_id] = operation

    def work() -> None:
        failed = False
        for region in regions:
            reason = "" if failed else change(region)
            status = "CANCELLED" if failed else "FAILED" if reason else "SUCCEEDED"
            failed = failed or bool(reason)
            told = {"Account": ACCOUNT, "Region": region, "Status": status}
            operation.results.append(told | ({"StatusReason": reason} if reason else {}))
        operation.status, operation.ended = "FAILED" if failed else "SUCCEEDED", CLOCK.now()

    thread = threading.Thread(target=work, name="local-stack-sets", daemon=True)
    thread.start()
    thread.join(timeout=_ANSWER_AFTER_SECONDS)
    return {"OperationId": operation.operation_id}


def _operation_of(request: Request) -> _Operation:
    found = _stack_set_of(request).operations.get(request.parameters["OperationId"])
    if found is None:
        raise ServiceError("OperationNotFoundException", "Operation not found")
    return found


@handlers("DescribeStackSetOperation")
def describe_stack_set_operation(request: Request) -> Mapping[str, Any]:
    """Describe an operation."""
    found, stack_set = _operation_of(request), _stack_set_of(request)
    shown = {
        "OperationId": found.operation_id,
        "StackSetId": stack_set.stack_set_id,
        "Action": found.action,
        "Status": found.status,
        "CreationTimestamp": found.begun,
    }
    return {"StackSetOperation": shown | ({"EndTimestamp": found.ended} if found.ended else {})}


@handlers("ListStackSetOperationResults")
def list_stack_set_operation_results(request: Request) -> Mapping[str, Any]:
    """List the results of an operation by Region."""
    return page(_operation_of(request).results, parameters=request.parameters, key="Summaries")


@handlers("ListStackInstances")
def list_stack_instances(request: Request) -> Mapping[str, Any]:
    """List the stack instances of a StackSet."""
    found = _stack_set_of(request)
    asked = request.parameters
    shown = [
        _shown(found, each)
        for each in found.instances.values()
        if asked.get("StackInstanceAccount", ACCOUNT) == ACCOUNT
        and asked.get("StackInstanceRegion", each.region) == each.region
    ]
    return page(shown, parameters=request.parameters, key="Summaries")


@handlers("DescribeStackInstance")
def describe_stack_instance(request: Request) -> Mapping[str, Any]:
    """Describe the stack instance of one Region."""
    found = _stack_set_of(request)
    instance = found.instances.get(request.parameters["StackInstanceRegion"])
    if instance is None or request.parameters["StackInstanceAccount"] != ACCOUNT:
        raise ServiceError("StackInstanceNotFoundException", "Stack instance not found")
    return {"StackInstance": _shown(found, instance) | {"ParameterOverrides": instance.overrides}}


def _shown(stack_set: _StackSet, instance: _Instance) -> dict[str, Any]:
    shown = {
        "StackSetId": stack_set.stack_set_id,
        "Account": ACCOUNT,
        "Region": instance.region,
        "Status": instance.status,
    }
    optional = {"StackId": instance.stack_id, "StatusReason": instance.reason}
    return shown | {key: part for key, part in optional.items() if part}
