"""State of CloudFormation: stacks, their resources and events, change sets."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state

__all__ = ["STACK_TYPE", "ChangeSet", "Stack", "StackResource", "Stacks", "Submission", "stacks_of"]

STACK_TYPE = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, kw_only=True, slots=True)
class StackResource:
    """A deployed resource.

    Attributes:
        logical_id: Logical ID.
        resource_type: Resource type, such as ``AWS::EC2::VPC``.
        physical_id: Physical ID, the value of ``Ref``.
        properties: Resolved properties.
        attributes: Returns the attributes for ``Fn::GetAtt``.
        definition: Unresolved definition in the template, with policies and metadata.
    """

    logical_id: str
    resource_type: str
    physical_id: str
    properties: Mapping[str, Any]
    attributes: Callable[[], Mapping[str, Any]]
    definition: Mapping[str, Any]
    status: str
    changed: datetime
    attempt: str = ""

    def retained(self, policy: str) -> bool:
        """Return whether `policy` (``DeletionPolicy``, ``UpdateReplacePolicy``) retains the physical resource."""
        return self.definition.get(policy, "Delete") in {"Retain", "RetainExceptOnCreate", "Snapshot"}


@dataclass(kw_only=True, slots=True)
class Stack:
    """A stack with its events."""

    name: str
    stack_id: str
    region: str
    status: str
    created: datetime
    reason: str = ""
    description: str | None = None
    template_text: str = ""
    template: Mapping[str, Any] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    capabilities: list[str] = field(default_factory=list)
    notification_arns: list[str] = field(default_factory=list)
    role_arn: str | None = None
    parent_id: str = ""
    root_id: str = ""
    updated: datetime | None = None
    change_set_id: str = ""
    deleted: datetime | None = None
    termination_protection: bool = False
    disable_rollback: bool = False
    resources: dict[str, StackResource] = field(default_factory=dict)
    outputs: list[dict[str, str]] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)
    imports: frozenset[str] = frozenset()
    events: list[dict[str, Any]] = field(default_factory=list)

    def record(
        self, logical_id: str, resource_type: str, status: str, *, physical_id: str = "", reason: str = ""
    ) -> None:
        """Add an event to the history."""
        event = {
            "StackId": self.stack_id,
            "EventId": f"{logical_id}-{uuid.uuid4()}",
            "StackName": self.name,
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": physical_id,
            "ResourceType": resource_type,
            "Timestamp": CLOCK.now(),
            "ResourceStatus": status,
        }
        self.events.append(event | ({"ResourceStatusReason": reason} if reason else {}))

    def enter(self, status: str, *, reason: str = "") -> None:
        """Set the status of the stack."""
        self.status, self.reason = status, reason
        self.record(self.name, STACK_TYPE, status, physical_id=self.stack_id, reason=reason)


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """A template that can be deployed.

    Attributes:
        text: Template as submitted.
        template: Template as its transforms leave it.
        parameters: Parameter values as strings.
    """

    text: str
    template: dict[str, Any]
    parameters: dict[str, str]


@dataclass(kw_only=True, slots=True)
class ChangeSet:
    """A change set of a stack."""

    name: str
    change_set_id: str
    stack: Stack
    change_set_type: str
    submission: Submission
    tags: dict[str, str]
    description: str | None
    created: datetime
    capabilities: list[str]
    notification_arns: list[str]
    role_arn: str | None
    on_stack_failure: str | None
    client_token: str | None = None
    status: str = "CREATE_COMPLETE"
    reason: str = ""
    execution_status: str = "AVAILABLE"
    changes: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    """What its early validation found, in the form of DescribeEvents."""


@dataclass(kw_only=True, slots=True)
class Stacks:
    """All stacks of a Region, including deleted ones, and all change sets."""

    region: str
    stacks: dict[str, Stack] = field(default_factory=dict)
    change_sets: dict[str, ChangeSet] = field(default_factory=dict)

    def find(self, name: str) -> Stack | None:
        """Find a stack by name, unless it is deleted, or by ARN."""
        if name in self.stacks:
            return self.stacks[name]
        return next((one for one in self.living() if one.name == name), None)

    def get(self, name: str) -> Stack:
        """Return a stack by name or ARN.

        Raises:
            ValidationError: If there is no such stack.
        """
        found = self.find(name)
        if found is None:
            raise ValidationError(f"Stack with id {name} does not exist")
        return found

    def living(self) -> list[Stack]:
        """Return the stacks that are not deleted."""
        return [one for one in self.stacks.values() if one.status != "DELETE_COMPLETE"]

    def add(self, name: str, *, status: str) -> Stack:
        """Create a stack in `status`."""
        stack_id = f"arn:aws:cloudformation:{self.region}:{ACCOUNT}:stack/{name}/{uuid.uuid4()}"
        stack = Stack(name=name, stack_id=stack_id, region=self.region, status=status, created=CLOCK.now())
        self.stacks[stack_id] = stack
        return stack

    def forget_change_sets(self, stack: Stack) -> None:
        """Delete the change sets of a stack, as CloudFormation does when one is executed or the stack is deleted."""
        for key in [key for key, one in self.change_sets.items() if one.stack is stack]:
            del self.change_sets[key]

    def exports(self) -> dict[str, tuple[Stack, str]]:
        """Return every export: its stack and value."""
        return {name: (one, value) for one in self.living() for name, value in one.exports.items()}

    def importers(self, export: str) -> list[str]:
        """Return the names of the stacks that import `export`."""
        return [one.name for one in self.living() if export in one.imports]


def stacks_of(region: str) -> Stacks:
    """Return the stacks of a Region."""
    return region_state("cloudformation", region=region, new=lambda: Stacks(region=region))
