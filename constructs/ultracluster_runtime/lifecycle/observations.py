"""What is seen of AWS at one wake-up."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from ultracluster_runtime.functions.window import BlockWindow

__all__ = ["ACTIVE", "OVER", "UPCOMING", "Job", "Observations", "Queue", "Reservation"]

ACTIVE: Final = "active"
"""The state of a reservation whose capacity can be used."""

UPCOMING: Final = frozenset({"assessing", "delayed", "payment-pending", "pending", "scheduled"})
"""States of a reservation whose capacity is still to be delivered."""

OVER: Final = frozenset({"cancelled", "cancelling", "expired", "failed", "payment-failed", "unsupported"})
"""States of a reservation that has no capacity and will have none. States that stand nowhere are not understood."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """The reservation of a block, as EC2 shows it.

    Attributes:
        state: Its state, such as ``scheduled`` or ``active``.
        is_block: Whether it is a Capacity Block at all.
        ultraserver: Whether its instances are those of an UltraServer, which EC2 terminates earlier.
        instances: How many instances it has; EC2 shows 0 before the start.
        start: Its start. None when EC2 shows none.
        end: Its end. None when EC2 shows none.
    """

    state: str
    is_block: bool
    ultraserver: bool
    instances: int
    start: datetime | None
    end: datetime | None

    def window(self, checkpoint_lead: timedelta) -> BlockWindow | None:
        """Give its clock; None when it is no block, or has no usable times.

        Args:
            checkpoint_lead: How long before the drain jobs are told to write a checkpoint.
        """
        if not self.is_block or self.start is None or self.end is None or self.end <= self.start:
            return None
        return BlockWindow(
            start=self.start, end=self.end, ultraserver=self.ultraserver, checkpoint_lead=checkpoint_lead
        )

    def serves(self, now: datetime) -> bool:
        """Whether jobs can run in it now or later, so that a queue in front of it stays open.

        Args:
            now: The time.
        """
        window = self.window(timedelta(0))
        usable = self.state == ACTIVE or self.state in UPCOMING
        return usable and window is not None and now < window.drain_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """The job queue in front of the block.

    Attributes:
        enabled: Whether it takes jobs.
        others_serve: Whether another compute environment serves it, now or when its own block starts. None when
            that could not be seen.
        closed_by_budget: Whether a budget has closed it, so that only a person opens it again. Default: it has not.
    """

    enabled: bool
    others_serve: bool | None
    closed_by_budget: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job that has started.

    Attributes:
        job_id: Its id; of all its nodes together.
        nodes: Ids of the instances that it runs on.
    """

    job_id: str
    nodes: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Observations:
    """What was seen at one wake-up. None stands for what could not be seen; nothing is done about it then.

    Attributes:
        now: When it was seen.
        reservation_id: The block's reservation.
        checkpoint_lead: How long before the drain jobs are told to write a checkpoint.
        reservation: The reservation. None when EC2 does not know it (any more).
        environment_enabled: Whether the block's compute environment places jobs.
        queue: The job queue.
        nodes: Instances that run in this reservation; those of others never appear.
        jobs: Jobs that have started, wherever they run.
        extension_pending: Whether an extension was bought whose payment is not processed yet. None when unseen.
    """

    now: datetime
    reservation_id: str
    checkpoint_lead: timedelta
    reservation: Reservation | None
    environment_enabled: bool | None
    queue: Queue | None
    nodes: frozenset[str] | None
    jobs: tuple[Job, ...] | None
    extension_pending: bool | None

    @cached_property
    def window(self) -> BlockWindow | None:
        """The block's clock; None when it has none."""
        return self.reservation.window(self.checkpoint_lead) if self.reservation else None
