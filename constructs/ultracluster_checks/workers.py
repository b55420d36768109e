"""Functions and state machines, and the rules and schedules that call them."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ultracluster_checks.model.nodes import EVENT_RULE
from ultracluster_checks.model.template import Property, Resource, Templates

FUNCTION: Final = "AWS::Lambda::Function"
MACHINE: Final = "AWS::StepFunctions::StateMachine"
SCHEDULE: Final = "AWS::Scheduler::Schedule"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A rule of EventBridge or a schedule, with a target of it that is a function or state machine."""

    source: Resource
    target: Property
    worker: Resource


def worker_at(at: Property) -> Resource | None:
    """Return the function or state machine that a property names, also by an alias or version."""
    worker = at.target
    if worker is not None and worker.type in {"AWS::Lambda::Alias", "AWS::Lambda::Version"}:
        worker = worker["FunctionName"].target
    return worker if worker is not None and worker.type in {FUNCTION, MACHINE} else None


def targets_of(source: Resource) -> list[Property]:
    """Return the targets of a rule of EventBridge, or that of a schedule."""
    return source["Targets"].items if source.type == EVENT_RULE else [source["Target"]]


@lru_cache(maxsize=1)
def triggers(templates: Templates) -> tuple[Trigger, ...]:
    """Return the triggers of the functions and state machines of templates."""
    return tuple(
        Trigger(source, target, worker)
        for source in templates.of_type(EVENT_RULE, SCHEDULE)
        for target in targets_of(source)
        if (worker := worker_at(target["Arn"])) is not None
    )


def role_at(worker: Resource) -> Property:
    """Return the role of a function or state machine."""
    return worker["Role" if worker.type == FUNCTION else "RoleArn"]


def settings_of(worker: Resource) -> Property:
    """Return the environment of a function, or the properties of a state machine with its definition."""
    return worker["Environment"] if worker.type == FUNCTION else worker.properties
