"""State machines: a definition that Step Functions accepts, with rights and time for its tasks."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_checks.calls import action_of, roles_of_task
from ultracluster_checks.codes import CALLING, ROOM, VARIABLES, WAITING
from ultracluster_checks.jobs import JOB_DEFINITION, room_for
from ultracluster_checks.model.nodes import QUEUE, environments_of
from ultracluster_checks.model.permissions import may, role_of
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.model.values import Text
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_checks.workers import FUNCTION, MACHINE
from ultracluster_rules.findings import quote

# Service integrations that wait for the end of what they start, by the name of their rule and what they call besides.
# https://docs.aws.amazon.com/step-functions/latest/dg/service-integration-iam-templates.html (2026-11)
_WAITING: Final = {
    "batch:submitJob": ("BatchJobs", ("batch:DescribeJobs", "batch:TerminateJob")),
    "ecs:runTask": ("ECSTask", ("ecs:StopTask", "ecs:DescribeTasks")),
    "codebuild:startBuild": ("CodeBuild", ("codebuild:StopBuild", "codebuild:BatchGetBuilds")),
    "sagemaker:createTrainingJob": ("SageMakerTrainingJobs", ("sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob")),
    "states:startExecution": ("StepFunctionsExecution", ("states:DescribeExecution", "states:StopExecution")),
}  # fmt: skip
_PASSING: Final = {"ecs:runTask", "sagemaker:createTrainingJob"}
# Parameters that name what a task acts on.
_OBJECTS: Final = ("JobQueue", "FunctionName", "TopicArn", "QueueUrl", "StateMachineArn", "TableName")
_VARIABLE: Final = re.compile(r'(?:^|")\$\{(\w+)\}(?:$|")')
_ENDS: Final = {"Choice", "Fail", "Succeed"}
_LONGEST_EXPRESS: Final = 300
"""Seconds that an express machine may run. Step Functions developer guide, quotas (2026-11)."""


@dataclass(frozen=True, slots=True)
class State:
    """A state of a machine, with the names of those beside it."""

    name: str
    body: dict[str, Any]
    beside: frozenset[str]

    @property
    def call(self) -> str:
        """The integration of a task, such as ``batch:submitJob.sync``."""
        parts = str(self.body.get("Resource", "")).split(":states:::")
        return parts[1].removeprefix("aws-sdk:") if len(parts) > 1 else ""


def _definition(machine: Resource) -> tuple[Property, dict[str, Any]] | None:
    at = machine["Definition"] if machine["DefinitionString"].missing else machine["DefinitionString"]
    text = at.pattern or json.dumps(at.value, default=str)
    for each in machine["DefinitionSubstitutions"].members:
        text = text.replace(f"${{{each.path[-1]}}}", each.pattern)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (at, found) if isinstance(found, dict) and isinstance(found.get("States"), dict) else None


def _states(level: Any) -> Iterator[State]:
    """Return the states of a definition, also those inside of others."""
    states = level.get("States") if isinstance(level, dict) else None
    if not isinstance(states, dict):
        return
    for name, body in states.items():
        if isinstance(body, dict):
            yield State(name, body, frozenset(states))
            for inner in (body.get("ItemProcessor"), body.get("Iterator"), *_list(body.get("Branches"))):
                yield from _states(inner)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _named(value: Any, machine: Resource) -> Resource | None:
    """Return the resource that a value of a definition refers to."""
    name = str(value).removeprefix("${").removesuffix("}").partition(".")[0]
    return machine.template.resources.get(name) if str(value).startswith("${") else None


def _literals(value: Any) -> Iterator[str]:
    """Return what stands in a definition as text, other than references that CloudFormation resolves."""
    if isinstance(value, str):
        yield value
    parts = value.parts if isinstance(value, Text) else value if isinstance(value, list) else ()
    for part in value.values() if isinstance(value, dict) else parts:
        yield from _literals(part)


def _parameters(state: State) -> dict[str, Any]:
    found = state.body.get("Parameters", state.body.get("Arguments"))
    return found if isinstance(found, dict) else {}


@rule("UC6460", MACHINE)
def definitions_are_whole(machine: Resource) -> Iterator[Wrong]:
    """Find states that lead to none, or that do not say what comes next, which CreateStateMachine refuses."""
    whole = _definition(machine)
    if whole is None:
        return
    at, body = whole
    if str(body.get("StartAt")) not in body["States"]:
        got = f"StartAt is {quote(str(body.get('StartAt')))}, which is no state"
        yield at, got, ", ".join(body["States"])
    for lost in _unreachable(body):
        yield at, f"no state leads to {lost}, which CreateStateMachine refuses", "a state before it, or none"
    for state in _states(body):
        for name in _following(state.body):
            if str(name) not in state.beside:
                yield at, f"{state.name} leads to {quote(str(name))}, which is no state", "a state beside it"
        ends = str(state.body.get("Type")) in _ENDS or state.body.get("Next") or state.body.get("End")
        if not ends:
            yield at, f"{state.name} has no Next and is no end", "Next, or End: true"


def _following(state: dict[str, Any]) -> list[Any]:
    """Return the names of the states that a state leads to."""
    branches = [state, *_list(state.get("Choices")), *_list(state.get("Catch"))]
    names = [each.get("Next") for each in branches if isinstance(each, dict)] + [state.get("Default")]
    return [name for name in names if name is not None]


def _unreachable(body: dict[str, Any]) -> list[str]:
    """Return the states to which none leads: MISSING_TRANSITION_TARGET, "is not reachable" (CreateStateMachine)."""
    reached, waiting = set(), [str(body.get("StartAt"))]
    while waiting:
        name = waiting.pop()
        state = body["States"].get(name)
        if name not in reached and isinstance(state, dict):
            reached.add(name)
            waiting += map(str, _following(state))
    return [name for name in body["States"] if reached and name not in reached]


@rule(VARIABLES, MACHINE)
def variables_are_given(machine: Resource) -> Iterator[Wrong]:
    """Find variables of a definition without a substitution, and substitutions without a variable: CloudFormation template reference, DefinitionSubstitutions (2026-11)."""
    found, given = _definition(machine), machine["DefinitionSubstitutions"]
    if found is None or given.unknown:
        return
    at, _ = found
    for name in dict.fromkeys(each for text in _literals(at.value) for each in _VARIABLE.findall(text)):
        if given[name].missing:
            yield at, f"nothing replaces the variable {name}", f"{name} in DefinitionSubstitutions"
    used = json.dumps(at.value, default=str) + at.pattern
    for each in given.members:
        if f"${{{each.path[-1]}}}" not in used:
            yield each, f"the definition does not use {each.path[-1]}", "a state that uses it, or none"


@rule(CALLING, MACHINE)
def tasks_are_allowed(machine: Resource) -> Iterator[Wrong]:
    """Find tasks that the role of their state machine does not allow, on what they name."""
    at, found = machine["RoleArn"], _definition(machine)
    role = role_of(at)
    for state in _states(found[1]) if found and role is not None else ():
        needed = _needed(state, machine)
        lacking = [each for each, on in needed if role is not None and not may(role, each, on)]
        if lacking and role is not None:
            got = f"{role.logical_id} does not allow {', '.join(lacking)}, which {state.name} needs"
            yield at, got, f"{', '.join(lacking)} on what the state names"


def _needed(state: State, machine: Resource) -> Iterator[tuple[str, Resource | str | None]]:
    call, _, pattern = state.call.partition(".")
    service, _, method = call.partition(":")
    action, named = action_of(service, method), _parameters(state)
    on = next((found for name in _OBJECTS if (found := _named(named.get(name), machine))), None)
    direct = _named(state.body.get("Resource"), machine)
    if direct is not None and direct.type == FUNCTION:
        yield "lambda:InvokeFunction", direct
    if action:
        yield action, on
    if call in _PASSING:
        task = _named(named.get("TaskDefinition"), machine)
        yield from (("iam:PassRole", role) for role in roles_of_task(task))
        if not roles_of_task(task):
            yield "iam:PassRole", _named(named.get("RoleArn"), machine)
    if pattern.startswith("sync") and call in _WAITING:
        name, besides = _WAITING[call]
        yield from ((each, None) for each in besides)
        managed = f"rule/StepFunctionsGetEventsFor{name}Rule"
        yield from ((f"events:{each}", managed) for each in ("PutTargets", "PutRule", "DescribeRule"))


@rule(WAITING, MACHINE)
def tasks_have_time(machine: Resource) -> Iterator[Wrong]:
    """Find timeouts that end a state, a job or a function before what it waits for may end."""
    found = _definition(machine)
    whole = found[1].get("TimeoutSeconds") if found else None
    if machine["StateMachineType"].text == "EXPRESS":
        whole = min(whole, _LONGEST_EXPRESS) if isinstance(whole, int) else _LONGEST_EXPRESS
    seconds = [each.body.get("Seconds") for each in _states(found[1])] if found else []
    longest_wait = max((each for each in seconds if isinstance(each, int)), default=0)
    if found and isinstance(whole, int) and longest_wait >= whole:
        yield found[0], f"the machine ends after {whole} seconds, and waits for {longest_wait}", "less"
    for state in _states(found[1]) if found else ():
        own, beat = state.body.get("TimeoutSeconds"), state.body.get("HeartbeatSeconds")
        at, name = found[0] if found else machine.properties, state.name
        if _is_less(whole, own):
            yield at, f"the machine ends after {whole} seconds, and {name} may take {own}", f"{own} or more"
        if isinstance(own, int) and isinstance(beat, int) and beat >= own:
            yield at, f"{name} sends a heartbeat in {beat} seconds and ends after {own}", f"less than {own}"
        job = _named(_parameters(state).get("JobDefinition"), machine)
        called = _named(_parameters(state).get("FunctionName", state.body.get("Resource")), machine)
        longest = job["Timeout"]["AttemptDurationSeconds"].number if job is not None else None
        if called is not None and called.type == FUNCTION:
            longest = called["Timeout"].number
        limit = own if isinstance(own, int) else whole
        waits = called is not None or ".sync" in state.call
        if waits and _is_less(limit, longest):
            got = f"{name} ends after {limit} seconds, and what it waits for may take {longest}"
            yield at, got, f"{longest} or more"
        yield from _too_large(at, state, machine)


def _is_less(first: Any, second: Any) -> bool:
    return isinstance(first, int) and isinstance(second, int) and first < second


def _too_large(at: Property, state: State, machine: Resource) -> Iterator[Wrong]:
    """Find jobs that are submitted to a queue whose nodes are too small for them."""
    queue, job = (_named(_parameters(state).get(name), machine) for name in ("JobQueue", "JobDefinition"))
    if queue is None or job is None or queue.type != QUEUE or job.type != JOB_DEFINITION:
        return
    rooms = [room_for(each) for each in environments_of(queue) or ()]
    kinds = job["ContainerProperties"]["ResourceRequirements"].items
    asked = max([each["Value"].number or 0 for each in kinds if each["Type"].text == "VCPU"], default=0)
    if rooms and None not in rooms and asked > (most := max(room or 0 for room in rooms)):
        got = f"{state.name} submits {job.logical_id} with {asked} vCPUs to {queue.logical_id}, whose nodes have up to {most}"
        yield Problem.of(at, ROOM, got, "a queue with larger nodes")
