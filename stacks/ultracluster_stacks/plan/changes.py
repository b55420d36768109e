"""A plan: stacks, their changes, and reasons to stop the deployment until they are allowed."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, Self


class Action(StrEnum):
    """What CloudFormation does to a resource."""

    ADD = "add"
    UPDATE = "update in place"
    REPLACE = "replace"
    MAY_REPLACE = "may replace"
    """The templates do not determine whether the resource is replaced."""
    RETAIN = "retain"
    """The resource leaves the stack and stays in the account, unmanaged."""
    REMOVE = "remove"


REPLACES: Final = frozenset({Action.REPLACE, Action.MAY_REPLACE})
GOES: Final = frozenset({Action.REMOVE, Action.RETAIN})


class StackState(StrEnum):
    """What happens to a stack."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    LEFT = "left"
    """The stack is no longer defined. ``cdk deploy`` leaves it deployed, and it is billed as before."""


class StopKind(StrEnum):
    """Why a change stops a deployment."""

    DATA = "data"
    """Data of a resource would be lost, left behind or unprotected."""
    JOBS = "jobs"
    """Running or waiting jobs would end, or jobs would run in another way."""
    CAPACITY = "capacity"
    """Nodes would be bought, started or ended in another way, or paid ones would stay empty."""
    NETWORK = "network"
    """Nodes and file systems would lose network connectivity."""
    PERMISSION = "permission"
    """Running jobs, nodes or functions would lose permissions, or dangerous ones would be granted."""
    CONTROL = "control"
    """Jobs would not end before their Capacity Block does, costs would not be watched, or people not be told."""
    ACCOUNT = "account"
    """The account has not what the deployment needs."""
    UNKNOWN = "unknown"
    """The effect is unknown."""
    REFUSED = "refused"
    """CloudFormation or the service would refuse the change, so the deployment would roll back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """A reason to stop.

    Attributes:
        reason: Effect of the change, in one sentence.
        allow: Word that allows the change, such as ``replace:train-us-east-2-Storage/FileSystem8A8E25C0``. None if it
            would fail anyway.
    """

    kind: StopKind
    reason: str
    allow: str | None

    @classmethod
    def refused(cls, reason: str) -> Self:
        """Create a reason to stop that cannot be allowed, because the update would fail."""
        return cls(kind=StopKind.REFUSED, reason=reason, allow=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class PropertyChange:
    """A changed property.

    Attributes:
        path: Path of the property, such as ``("LustreConfiguration", "EfaEnabled")``.
        before: Value or expression in the old template; None if added.
        after: Value or expression in the new template; None if removed.
        replaces: Whether the change replaces the resource. None if it does in some cases.
        cause: Logical ID or export whose change reaches this property through a reference; empty if the property
            itself differs.
    """

    path: tuple[str, ...]
    before: Any
    after: Any
    replaces: bool | None
    cause: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceChange:
    """A changed resource.

    Attributes:
        resource_type: Resource type; the old one if it changes.
        path: Construct path, such as ``train-us-east-2/Storage/FileSystem/Resource``; empty if unknown.
        action: What CloudFormation does.
        leaves_behind: Whether the old resource stays in the account, unmanaged.
        widened: Descriptions of added permissions.
    """

    stack: str
    logical_id: str
    resource_type: str
    path: str
    action: Action
    leaves_behind: bool
    properties: tuple[PropertyChange, ...]
    widened: tuple[str, ...]
    notes: tuple[str, ...]
    stops: tuple[Stop, ...]

    def stop(self, kind: StopKind, reason: str) -> Stop:
        """Return a reason to stop that can be allowed."""
        verb = "replace" if self.action in REPLACES else "remove" if self.action in GOES else "change"
        return Stop(kind=kind, reason=reason, allow=f"{verb}:{self.stack}/{self.logical_id}")


Resources = Mapping[str, Mapping[str, Any]]
"""Resources of a template by logical ID."""

Block = Literal["running", "idle"]
"""Whether nodes of a Capacity Block may run now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceUpdate:
    """A change with what its rules read: the resource, empty where it does not exist, and all resources of its stack.

    Attributes:
        block: State of the Capacity Block of a compute environment or function. None if there is none.
        account: Account of the stack, if its assembly names it.
        idle_blocks: Reservations in which nothing runs now.
    """

    change: ResourceChange
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    old_resources: Resources
    new_resources: Resources
    block: Block | None
    account: str | None
    idle_blocks: Collection[str]

    @property
    def old(self) -> Mapping[str, Any]:
        """Properties of the resource before the change."""
        return self.before.get("Properties") or {}

    @property
    def new(self) -> Mapping[str, Any]:
        """Properties of the resource after the change."""
        return self.after.get("Properties") or {}


@dataclass(frozen=True, kw_only=True, slots=True)
class StackChange:
    """Changes of one stack.

    Attributes:
        cluster: Name of the stage, such as ``train-us-east-2``.
        changes: Changed resources in the order of the templates; empty for new and left stacks.
        stops: Reasons why the stack as a whole would fail.
        resources: Number of resources afterwards.
    """

    cluster: str
    name: str
    region: str
    state: StackState
    changes: tuple[ResourceChange, ...] = ()
    stops: tuple[Stop, ...] = ()
    resources: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Effects of a deployment on all stacks, in the order of the new assembly, then on those that are no longer defined."""

    stacks: tuple[StackChange, ...]
    unanswered: str = ""
    """What the accounts did not answer about what changes, in one line; empty if all is known."""

    def stops(self) -> Iterator[Stop]:
        """Iterate over all reasons to stop."""
        for stack in self.stacks:
            yield from stack.stops
            for change in stack.changes:
                yield from change.stops

    @property
    def unchanged(self) -> bool:
        """Whether no template changes."""
        return all(stack.state is StackState.SAME for stack in self.stacks)

    def stopped(self, allowed: Collection[str] = ()) -> bool:
        """Return whether any reason to stop is not allowed."""
        return any(stop.allow is None or stop.allow not in allowed for stop in self.stops())
