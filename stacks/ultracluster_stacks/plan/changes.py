"""A plan: stacks, what changes in them, and what stops the deployment until somebody allows it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = [
    "Action",
    "Plan",
    "PropertyChange",
    "ResourceChange",
    "StackChange",
    "StackState",
    "Stop",
    "StopKind",
]


class Action(StrEnum):
    """What CloudFormation does to a resource."""

    ADD = "add"
    UPDATE = "update in place"
    REPLACE = "replace"
    MAY_REPLACE = "may replace"
    """Whether it is replaced depends on what the templates do not say."""
    RETAIN = "retain"
    """It leaves the stack and stays in the account, where nobody manages it."""
    REMOVE = "remove"


class StackState(StrEnum):
    """What happens to a stack."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    LEFT = "left"
    """It is no longer defined. ``cdk deploy`` does not touch it: it stays, and costs what it costs."""


class StopKind(StrEnum):
    """Why a change stops a deployment."""

    DATA = "data"
    """What a resource holds would be lost, left behind, or is no longer protected."""
    JOBS = "jobs"
    """Running or waiting jobs would end."""
    NETWORK = "network"
    """Nodes and file systems lose what their traffic goes through."""
    UNKNOWN = "unknown"
    """What happens is not known."""
    REFUSED = "refused"
    """CloudFormation or the service would refuse it, so that the deployment fails and rolls back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """One reason to stop.

    Attributes:
        kind: What is in danger.
        reason: What would happen, in one sentence.
        allow: The word that allows it, such as ``replace:train-us-east-2-Storage/FileSystem8A8E25C0``; None for what
            would fail anyway.
    """

    kind: StopKind
    reason: str
    allow: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PropertyChange:
    """One property that changes.

    Attributes:
        path: Where it is, such as ``("LustreConfiguration", "EfaEnabled")``.
        before: Its value or expression in the old template; None if it is new.
        after: The same in the new template; None if it goes.
        replaces: Whether its change forces a new resource. None if it does in some cases.
        cause: Logical id or export whose change reaches this property through a reference; empty if the template
            itself says something else here.
    """

    path: tuple[str, ...]
    before: Any
    after: Any
    replaces: bool | None
    cause: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceChange:
    """One resource that changes.

    Attributes:
        stack: Name of its stack.
        logical_id: Its logical id.
        resource_type: Its type; the old one where it changes.
        path: Its construct path, such as ``train-us-east-2/Storage/FileSystem/Resource``; empty if not known.
        action: What CloudFormation does.
        leaves_behind: Whether the old resource stays in the account, unmanaged.
        properties: What changes in it.
        widened: Permissions that somebody gets, in words.
        notes: What else to know.
        stops: Why it stops the deployment.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class StackChange:
    """One stack.

    Attributes:
        cluster: Name of its stage, such as ``train-us-east-2``.
        name: Its name in CloudFormation.
        region: Its Region.
        state: What happens to it.
        changes: Its resources that change, in the order of the templates; not listed for new and left stacks.
        stops: Why the stack as a whole would fail.
        resources: Number of its resources afterwards.
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
    """What a deployment would do.

    Attributes:
        stacks: All stacks, in the order of the new assembly, then those that are left.
    """

    stacks: tuple[StackChange, ...]

    def stops(self) -> Iterator[Stop]:
        """Give every reason to stop."""
        for stack in self.stacks:
            yield from stack.stops
            for change in stack.changes:
                yield from change.stops

    def stopped(self, allowed: Collection[str] = ()) -> bool:
        """Whether something stops that `allowed` does not name.

        Args:
            allowed: Words of `Stop.allow`. Default: none.
        """
        return any(stop.allow is None or stop.allow not in allowed for stop in self.stops())
