"""Actions of one life cycle run. None of them can buy anything."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class SetEnvironment:
    """Enable or disable the compute environment of the block. Disabled, AWS Batch launches no nodes for it."""

    enabled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SetQueue:
    """Enable or disable the job queue for new jobs."""

    enabled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SetFleet:
    """Set the desired capacity of the Auto Scaling group of the block."""

    nodes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SetProtection:
    """Protect nodes from scaling in, or let the Auto Scaling group end them."""

    nodes: frozenset[str]
    protected: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestCheckpoint:
    """Request a checkpoint from the jobs on some nodes."""

    nodes: frozenset[str]
    before: datetime  # time at which EC2 terminates the nodes
    sick: str | None = None  # sick node that is replaced afterwards, if that is the reason


@dataclass(frozen=True, kw_only=True, slots=True)
class TerminateJob:
    """Terminate a job that runs on nodes of the block."""

    job_id: str
    reason: str
    children: tuple[str, ...] = ()  # IDs of the array children that end with it, before it


@dataclass(frozen=True, kw_only=True, slots=True)
class DrainNode:
    """Let no further job start on a sick node; those that run go on."""

    node: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaceNode:
    """Terminate a sick node of the block, in whose place another one is launched."""

    node: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Notify:
    """Publish a notification."""

    notices: frozenset[str]  # names of the notices that this message covers; none of them is sent again
    subject: str  # subject, ASCII only
    text: str
    with_extension: bool = False  # whether to add the current price of an extension
    report: dict[str, Any] = field(default_factory=dict)  # figures to send and to log


Action = (
    SetEnvironment
    | SetQueue
    | SetFleet
    | SetProtection
    | RequestCheckpoint
    | TerminateJob
    | DrainNode
    | ReplaceNode
    | Notify
)


class PartialDeliveryError(Exception):
    """Some nodes accepted the checkpoint request, others could not be reached."""

    def __init__(self, requested: frozenset[str], failures: list[str]) -> None:
        self.requested = requested
        super().__init__("could not request a checkpoint on: " + "; ".join(failures))
