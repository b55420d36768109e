"""CloudFormation API operations on change sets, which the CDK CLI uses for `deploy` and `diff`."""

import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.change_sets.changes import describe_changes
from ultracluster_local.cloudformation.change_sets.early_validation import EARLY_VALIDATION, taken_names
from ultracluster_local.cloudformation.engine import delete_stack, deploy_stack
from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.requests import refuse_unsettled, run_change, stack_of, stack_tags
from ultracluster_local.cloudformation.stacks import ChangeSet, Stack, Submission, stacks_of
from ultracluster_local.cloudformation.submissions import submitted
from ultracluster_local.cloudformation.templates.transforms import TransformError
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.running import running
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, page

__all__ = ["change_set_of", "handlers"]

handlers = Handlers(service="cloudformation")

_NO_CHANGES = (
    "The submitted information didn't contain changes. Submit different information to create a change set."
)


@handlers("CreateChangeSet")
def create_change_set(request: Request) -> Mapping[str, Any]:
    """Create a change set; one without changes is FAILED, as in CloudFormation."""
    stacks, name = stacks_of(request.region), request.parameters["StackName"]
    stack = stacks.find(name)
    kind = request.parameters.get("ChangeSetType", "UPDATE")
    given = request.parameters["ChangeSetName"]
    _refuse_kind(stack, kind, name, given)
    failure = ""
    try:
        submission = submitted(request, previous=stack, reviewed=True)
    except TransformError as error:
        failure = error.message
        submission = Submission(text=request.parameters.get("TemplateBody", ""), template={}, parameters={})
    if stack is None:
        stack = stacks.add(name, status="REVIEW_IN_PROGRESS")
        stack.enter("REVIEW_IN_PROGRESS", reason="User Initiated")
    token = request.parameters.get("ClientToken")
    _refuse_again(stack, given, token)
    change_set = ChangeSet(
        name=given,
        client_token=token,
        change_set_id=request.arn("cloudformation", f"changeSet/{given}/{uuid.uuid4()}"),
        stack=stack,
        change_set_type=kind,
        submission=submission,
        tags=stack_tags(request, stack.tags),
        description=request.parameters.get("Description"),
        created=CLOCK.now(),
        capabilities=list(request.parameters.get("Capabilities") or []),
        notification_arns=list(request.parameters.get("NotificationARNs") or []),
        role_arn=request.parameters.get("RoleARN"),
        on_stack_failure=request.parameters.get("OnStackFailure"),
    )
    if not failure:
        try:
            change_set.changes = describe_changes(
                stack, submission.template, submission.parameters, clients=running().clients
            )
        except ValidationError as error:
            failure = error.message
        else:
            unchecked = request.parameters.get("DisableValidation")
            taken = taken_names(stack, change_set.changes, clients=running().clients)
            change_set.problems = [] if unchecked else list(taken)
            if change_set.problems:
                failure = EARLY_VALIDATION
            elif kind == "UPDATE" and not change_set.changes and not _other_changes(stack, change_set):
                failure = _NO_CHANGES
    if failure:
        change_set.status, change_set.execution_status, change_set.reason = "FAILED", "UNAVAILABLE", failure
    stacks.change_sets[change_set.change_set_id] = change_set
    return {"Id": change_set.change_set_id, "StackId": stack.stack_id}


def _refuse_again(stack: Stack, given: str, token: str | None) -> None:
    for one in stacks_of(stack.region).change_sets.values():
        if one.name == given and one.stack is stack:
            problem = ": it already exists"
            if token and token != one.client_token:  # awslabs/landing-zone-accelerator-on-aws#342
                problem = " due to a mismatch with existing attribute ClientToken"
            raise ServiceError("AlreadyExistsException", f"ChangeSet {given} cannot be created{problem}")


def _refuse_kind(stack: Stack | None, kind: str, name: str, given: str) -> None:
    if kind == "IMPORT":
        raise ValidationError("The local AWS cannot import resources.")
    if stack is None and kind == "UPDATE":
        raise ValidationError(f"Stack [{name}] does not exist")
    if stack and kind == "CREATE" and stack.status != "REVIEW_IN_PROGRESS":
        raise ValidationError(
            f"Stack [{name}] already exists and cannot be created again with the changeSet [{given}]."
        )
    if stack and kind == "UPDATE":
        refuse_unsettled(stack)


def _other_changes(stack: Stack, change_set: ChangeSet) -> bool:
    """Return whether outputs or the stack's tags change."""
    same_outputs = (stack.template.get("Outputs") or {}) == (
        change_set.submission.template.get("Outputs") or {}
    )
    return not same_outputs or stack.tags != change_set.tags


def change_set_of(request: Request) -> ChangeSet:
    """Return the change set named by a request.

    Raises:
        ServiceError: If there is none.
    """
    stacks, wanted = stacks_of(request.region), request.parameters["ChangeSetName"]
    if wanted in stacks.change_sets:
        return stacks.change_sets[wanted]
    if request.parameters.get("StackName"):
        stack = stack_of(request)
        for one in stacks.change_sets.values():
            if one.name == wanted and one.stack is stack:
                return one
    raise ServiceError("ChangeSetNotFound", f"ChangeSet [{wanted}] does not exist")


@handlers("DescribeChangeSet")
def describe_change_set(request: Request) -> Mapping[str, Any]:
    """Describe a change set, with property values on request."""
    change_set = change_set_of(request)
    changes = change_set.changes
    if not request.parameters.get("IncludePropertyValues"):
        changes = [_without_values(change) for change in changes]
    shown: dict[str, Any] = {
        "ChangeSetName": change_set.name,
        "ChangeSetId": change_set.change_set_id,
        "StackId": change_set.stack.stack_id,
        "StackName": change_set.stack.name,
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": part}
            for key, part in change_set.submission.parameters.items()
        ],
        "CreationTime": change_set.created,
        "ExecutionStatus": change_set.execution_status,
        "Status": change_set.status,
        "StatusReason": change_set.reason,
        "NotificationARNs": change_set.notification_arns,
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


@handlers("DescribeEvents")
def describe_events(request: Request) -> Mapping[str, Any]:
    """Describe the events of a stack and what early validation found in its change sets, or that of one change set."""
    given = request.parameters
    if not any(given.get(name) for name in ("ChangeSetName", "OperationId", "StackName")) or (
        "StackName" not in given and not str(given.get("ChangeSetName", "arn:")).startswith("arn:")
    ):  # aws-cloudformation/cloudformation-cli#1116
        raise ValidationError("One of ChangeSetName, OperationId or StackName must be specified")
    sets = list(stacks_of(request.region).change_sets.values())
    events: list[dict[str, Any]] = []
    if given.get("ChangeSetName"):
        sets = [change_set_of(request)]
    elif given.get("StackName"):
        stack = stack_of(request)
        sets = [one for one in sets if one.stack is stack]
        events = [
            {key: part for key, part in one.items() if key != "StackName"} | {"EventType": "STACK_EVENT"}
            for one in stack.events
        ]
    events += [problem for one in sets for problem in one.problems]
    if given.get("OperationId"):
        events = [one for one in events if one.get("OperationId") == given["OperationId"]]
    if (given.get("Filters") or {}).get("FailedEvents"):
        events = [one for one in events if "FAILED" in one.get("ResourceStatus", "FAILED")]
    return page(events[::-1], parameters=given, key="OperationEvents")


@handlers("ListChangeSets")
def list_change_sets(request: Request) -> Mapping[str, Any]:
    """List the change sets of a stack."""
    stack = stack_of(request)
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
        for one in stacks_of(request.region).change_sets.values()
        if one.stack is stack
    ]
    return page(shown, parameters=request.parameters, key="Summaries")


@handlers("DeleteChangeSet")
def delete_change_set(request: Request) -> Mapping[str, Any]:
    """Delete a change set; a missing one is no error."""
    named = request.parameters["ChangeSetName"].startswith("arn:")
    if not named and not request.parameters.get("StackName"):
        raise ValidationError("StackName must be specified if ChangeSetName is not specified as an ARN.")
    try:
        change_set = change_set_of(request)
    except ServiceError as error:
        if error.code == "ChangeSetNotFound":
            return {}
        raise
    del stacks_of(request.region).change_sets[change_set.change_set_id]
    return {}


@handlers("ExecuteChangeSet")
def execute_change_set(request: Request) -> Mapping[str, Any]:
    """Execute a change set."""
    change_set = change_set_of(request)
    if change_set.execution_status != "AVAILABLE":
        state = f"status of [{change_set.status}]"
        if change_set.execution_status == "OBSOLETE":  # aws/amazon-chime-sdk-js#1089
            state = "execution status of [OBSOLETE]"
        problem = f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current {state}"
        raise ServiceError("InvalidChangeSetStatus", problem)
    stack = change_set.stack
    stack.change_set_id = change_set.change_set_id
    change_set.execution_status = "EXECUTE_IN_PROGRESS"
    no_rollback = request.parameters.get("DisableRollback") or change_set.on_stack_failure == "DO_NOTHING"
    stack.disable_rollback = bool(no_rollback)
    stack.capabilities = change_set.capabilities or stack.capabilities
    stack.notification_arns = change_set.notification_arns or stack.notification_arns
    stack.role_arn = change_set.role_arn or stack.role_arn

    def work() -> None:
        deploy_stack(
            stack,
            change_set.submission,
            tags=change_set.tags,
            verb=change_set.change_set_type,
            clients=running().clients,
        )
        succeeded = stack.status in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
        change_set.execution_status = "EXECUTE_COMPLETE" if succeeded else "EXECUTE_FAILED"
        if stack.status == "ROLLBACK_COMPLETE" and change_set.on_stack_failure == "DELETE":
            delete_stack(stack, clients=running().clients)
        stacks_of(stack.region).forget_change_sets(stack)

    run_change(work)
    return {}
