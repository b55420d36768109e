"""What can be done for a block at one wake-up. None of it can buy anything."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["Action", "Notify", "PartialDeliveryError", "RequestCheckpoint", "SetEnvironment", "SetQueue", "TerminateJob"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SetEnvironment:
    """Open or close the block's compute environment. Closed, AWS Batch places no job and launches no node."""

    enabled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SetQueue:
    """Open or close the job queue for new jobs."""

    enabled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestCheckpoint:
    """Tell nodes that their jobs shall write a checkpoint, before the time when EC2 ends the nodes."""

    nodes: frozenset[str]
    before: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TerminateJob:
    """End a job on the block's nodes."""

    job_id: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Notify:
    """Send people a notice.

    Attributes:
        notices: Names of the notices that it stands for; none of them is sent again.
        subject: Its subject, in ASCII.
        text: What it says.
        with_extension: Whether to add what an extension would cost. Default: not.
        report: Figures to send and to log. Default: none.
    """

    notices: frozenset[str]
    subject: str
    text: str
    with_extension: bool = False
    report: dict[str, Any] = field(default_factory=dict)


Action = SetEnvironment | SetQueue | RequestCheckpoint | TerminateJob | Notify


class PartialDeliveryError(Exception):
    """Some nodes were told, others could not be reached.

    Attributes:
        told: Nodes that were told.
    """

    def __init__(self, requested: frozenset[str], failures: list[str]) -> None:
        self.requested = requested
        super().__init__("nodes that could not be told to write a checkpoint: " + "; ".join(failures))
