"""EventBridge rules and targets, and schedules of EventBridge Scheduler."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, timedelta
from typing import Any
from zoneinfo import available_timezones

from moto.events.models import EventPattern, events_backends
from moto.scheduler.models import EventBridgeSchedulerBackend, scheduler_backends
from moto.scheduler.responses import EventBridgeSchedulerResponse

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks, given_parameters
from ultracluster_local.services.handlers import Handlers, Request, ServiceError
from ultracluster_local.services.iam.roles import can_assume
from ultracluster_local.services.messaging.event_patterns import problem
from ultracluster_local.services.messaging.schedule_expressions import is_schedule
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_events = Checks(service="events")
_handlers = Handlers(service="events")
_scheduler = Checks(service="scheduler")

_ARRAY = (2, 10_000)
_EARLIEST_START = timedelta(minutes=5)
_MOST_BYTES_OF_EVENTS = 1024 * 1024
_MOST_TARGETS = 5  # https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html
_NEED_A_ROLE = frozenset(
    {"batch", "codebuild", "codepipeline", "ecs", "kinesis", "redshift", "states", "sagemaker", "ssm"}
)
"""Services whose targets need a role: https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutTargets.html"""


_TAKE_NO_ROLE = frozenset({"lambda", "logs", "sns", "sqs"})
_TARGETS = (
    _NEED_A_ROLE
    | _TAKE_NO_ROLE
    | {"apigateway", "appsync", "autoscaling", "ec2", "events", "execute-api", "firehose", "inspector"}
    | {"kafka", "redshift-data", "redshift-serverless", "ssm-incidents"}
)
"""Services of targets: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-targets.html, read 2026-11."""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _invalid(message: str) -> ServiceError:
    return ServiceError("ValidationException", message)


@_events("PutRule")
def check_put_rule(request: Request) -> None:
    """Refuse an invalid expression or pattern, and a rule with neither."""
    schedule, pattern = request.parameters.get("ScheduleExpression"), request.parameters.get("EventPattern")
    bus = request.parameters.get("EventBusName", "default")
    if not schedule and not pattern:
        raise _invalid("Parameter(s) EventPattern or ScheduleExpression must be specified.")
    if schedule and bus.rsplit("/", 1)[-1] != "default":
        raise _invalid("ScheduleExpression is supported only on the default event bus.")
    if schedule and not is_schedule(schedule, one_time=False):
        raise _invalid("Parameter ScheduleExpression is not valid.")
    role = request.parameters.get("RoleArn")
    if role and not can_assume("events.amazonaws.com", role):
        raise _invalid(f"Provided role '{role}' cannot be assumed by principal 'events.amazonaws.com'.")
    if pattern:
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    if reason := problem(pattern):
        raise ServiceError("InvalidEventPatternException", f"Event pattern is not valid. Reason: {reason}")


@_events("DescribeRule", "EnableRule", "DisableRule", "ListTargetsByRule")
def check_rule(request: Request) -> None:
    """Refuse an unknown rule; the error names its event bus."""
    name = str(request.parameters.get("Name") or request.parameters.get("Rule"))
    bus = request.parameters.get("EventBusName", "default").rsplit("/", 1)[-1]
    if bus in events_backends[ACCOUNT][request.region].event_buses and _rule(request, name) is None:
        raise ServiceError("ResourceNotFoundException", f"Rule {name} does not exist on EventBus {bus}.")


@_events("PutTargets")
def check_put_targets(request: Request) -> None:
    """Refuse targets without what they need, or with two inputs, and more of them than a rule can have."""
    targets = request.parameters["Targets"]
    for target in targets:
        given = [name for name in ("Input", "InputPath", "InputTransformer") if target.get(name)]
        if len(given) > 1:
            names = "Input, InputPath, or InputTransformer"
            raise _invalid(f"Only one of {names} must be provided for target {target['Id']}.")
        _check_placeholders(target)
        service = (target["Arn"].split(":") + [""] * 3)[2]
        if service not in _TARGETS:  # aws-cloudformation/cfn-lint#4505
            raise _invalid(f"{service} is not a supported service for a target.")
        if service in _TAKE_NO_ROLE and target.get("RoleArn"):  # cloudformation-coverage-roadmap#351
            raise _invalid(f"RoleArn is not supported for target {target['Arn']}.")
        # This and the parameters: badmintoncryer/cdk-preflight, rules/events (2026-09-07).
        if target.get("Input") and not _is_json(target["Input"]):
            wrong = f"JSON syntax error in input for target {target['Id']}"
            # awsdocs/aws-cloudformation-user-guide#1010 has other words for a log group
            raise _invalid(
                wrong if service != "logs" else f"Input for target {target['Id']} is not a valid JSON text."
            )
        if service in _NEED_A_ROLE and not target.get("RoleArn"):
            raise _invalid(f"RoleArn is required for target {target['Arn']}.")
        _check_parameters(target, service)
    rule = _rule(request, request.parameters["Rule"])
    kept = (one.id if hasattr(one, "id") else one["Id"] for one in rule.targets) if rule else ()
    if len({*kept, *(target["Id"] for target in targets)}) > _MOST_TARGETS:
        raise ServiceError(
            "LimitExceededException", "The requested resource exceeds the maximum number allowed."
        )


def _check_parameters(target: Mapping[str, Any], service: str) -> None:
    for kind, name in (("batch", "BatchParameters"), ("ecs", "EcsParameters")):
        if service == kind and not target.get(name):
            raise _invalid(f"Parameter(s) {name} must be specified for target: {target['Id']}")
        if service != kind and target.get(name):
            raise _invalid(f"Parameter(s) {name} not supported for target: {target['Id']}")
    least, most = _ARRAY
    size = ((target.get("BatchParameters") or {}).get("ArrayProperties") or {}).get("Size", least)
    if not least <= size <= most:
        problem = f"Size must be in between {least} and {most}"
        raise _invalid(f"Parameter ArrayProperties is not valid. Reason: {problem}")


def _rule(request: Request, name: str) -> Any:
    bus = request.parameters.get("EventBusName", "default").rsplit("/", 1)[-1]
    found = events_backends[ACCOUNT][request.region].event_buses.get(bus)
    return found.rules.get(name) if found is not None else None


def _check_placeholders(target: Mapping[str, Any]) -> None:
    transformer = target.get("InputTransformer") or {}
    known = {*transformer.get("InputPathsMap", {})}
    for name in re.findall(r"<([^<>]+)>", transformer.get("InputTemplate", "")):
        if name not in known and not name.startswith("aws.events."):
            raise _invalid(f"InputTemplate for target {target['Id']} contains invalid placeholder {name}.")


@_scheduler("CreateSchedule", "UpdateSchedule")
def check_schedule(request: Request) -> None:
    """Refuse an invalid expression, a window without a length, and a role that Scheduler cannot assume."""
    expression = request.parameters["ScheduleExpression"]
    if not is_schedule(expression, one_time=True):
        raise _invalid(f"Invalid Schedule Expression {expression}.")
    window = request.parameters["FlexibleTimeWindow"]
    if window["Mode"] == "FLEXIBLE" and not window.get("MaximumWindowInMinutes"):
        raise _invalid("FlexibleTimeWindow.MaximumWindowInMinutes is required for the mode FLEXIBLE.")
    zone = request.parameters.get("ScheduleExpressionTimezone") or "UTC"
    if zone not in available_timezones():
        raise _invalid(f"Invalid Schedule Expression Timezone {zone}.")
    start = request.parameters.get("StartDate")
    earliest = CLOCK.now() - _EARLIEST_START
    if start and not expression.startswith("at(") and start.replace(tzinfo=UTC) < earliest:
        raise _invalid("The StartDate you specify cannot be earlier than 5 minutes ago.")  # getmoto/moto#8172
    target = request.parameters["Target"]
    service = (target["Arn"].split(":") + [""] * 3)[2]
    # API_Target: those read their input
    if service in {"lambda", "states", "events"} and target.get("Input") and not _is_json(target["Input"]):
        raise _invalid("The input must be a well-formed JSON.")
    role = target.get("RoleArn", "")
    if not can_assume("scheduler.amazonaws.com", role):
        raise _invalid(
            "The execution role you provide must allow AWS EventBridge Scheduler to assume the role."
        )


@_scheduler("CreateSchedule", "CreateScheduleGroup", "DeleteScheduleGroup", "ListSchedules", "UpdateSchedule")
@_scheduler("ListTagsForResource", "TagResource", "UntagResource")
def check_group(request: Request) -> None:
    """Refuse a group that exists, or does not, and to delete the default one: scheduler/latest/UserGuide/managing-schedule-group-delete.html."""
    given, known = request.parameters, scheduler_backends[ACCOUNT][request.region].schedule_groups
    of_group = "ScheduleGroup" in request.operation
    name = given["Name"] if of_group else given.get("GroupName") or "default"
    name = given.get("ResourceArn", name).rpartition("/")[2]
    if request.operation == "CreateScheduleGroup":
        if name in known:  # API_CreateScheduleGroup
            raise ServiceError("ConflictException", f"Schedule group {name} already exists.")
    elif name not in known:
        raise ServiceError("ResourceNotFoundException", f"Schedule group {name} does not exist.")
    elif of_group and name == "default":
        raise _invalid("The default schedule group cannot be deleted.")


@_handlers("TestEventPattern")
def test_event_pattern(request: Request) -> Mapping[str, Any]:
    """Return whether an event matches a pattern; refuse an invalid pattern, and an event that is no JSON object."""
    pattern = request.parameters["EventPattern"]
    _check_pattern(pattern)
    try:
        event = json.loads(request.parameters["Event"])
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise _invalid("Parameter Event is not valid.")
    return {"Result": EventPattern(pattern, json.loads(pattern)).matches_event(event)}


@_events("PutEvents")
def check_put_events(request: Request) -> None:
    """Refuse entries above the limit: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html."""
    size = sum(
        len(str(entry.get(name) or "").encode())
        for entry in request.parameters.get("Entries") or []
        for name in ("Source", "DetailType", "Detail")
    )
    if size > _MOST_BYTES_OF_EVENTS:
        raise _invalid("Total size of the entries in the request is over the limit.")


@instead_of(EventBridgeSchedulerBackend, "create_schedule")
def _create_schedule(original: Any, *given: Any, action_after_completion: str | None, **named: Any) -> Any:
    """Keep schedules by default: aws_scheduler_schedule in hashicorp/terraform-provider-aws, action_after_completion."""
    return original(*given, action_after_completion=action_after_completion or "NONE", **named)


@instead_of(EventBridgeSchedulerResponse, "update_schedule")
def _update_schedule(original: Any, response: Any) -> Any:
    """Set also the state and what follows the last run, back to the defaults if they are left out: API_UpdateSchedule."""
    answer = original(response)
    given = given_parameters(response, "UpdateSchedule")
    schedule = response.scheduler_backend.get_schedule(given.get("GroupName"), given["Name"])
    schedule.state = given.get("State") or "ENABLED"
    schedule.action_after_completion = given.get("ActionAfterCompletion") or "NONE"
    return answer
