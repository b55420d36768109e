"""Observations of AWS in one life cycle run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.functions.window import BlockWindow

ACTIVE: Final = "active"
"""State of a reservation whose capacity can be used."""

UPCOMING: Final = frozenset({"assessing", "delayed", "payment-pending", "pending", "scheduled"})
"""States of a reservation whose capacity is still to be delivered."""

ENDED: Final = frozenset({"cancelled", "cancelling", "expired", "failed", "payment-failed", "unsupported"})
"""States of a reservation that has no capacity and never will. States in none of these sets are unexpected."""

CHANGING: Final = frozenset({"CREATING", "UPDATING", "DELETING", "DELETED"})
"""Statuses of a compute environment or queue in which AWS Batch refuses changes: the resource is being modified."""

SHUT_DOWN_FROM_INSIDE: Final = "Client.InstanceInitiatedShutdown"
"""State reason of an instance that shut itself down (StateReason, EC2 API Reference, read 2026-11): only nodes that refuse do."""

BOOT_TIME: Final = timedelta(minutes=10)
"""Time after which a node has joined the cluster, or has refused to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """Reservation of a block, as EC2 describes it.

    Attributes:
        state: State, such as ``scheduled`` or ``active``.
        is_block: Whether it is a Capacity Block.
        ultraserver: Whether its instances belong to an UltraServer, which EC2 terminates earlier.
        instances: Number of instances; EC2 reports 0 before the start.
        start: Start. None if EC2 reports none.
        end: End. None if EC2 reports none.
    """

    state: str
    is_block: bool
    ultraserver: bool
    instances: int
    start: datetime | None
    end: datetime | None

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "Reservation":
        """Create a reservation from a CapacityReservation of DescribeCapacityReservations."""
        machine = INSTANCE_TYPES.get(description["InstanceType"])
        return cls(
            state=description["State"],
            is_block=description.get("ReservationType") == "capacity-block",
            ultraserver=machine is not None and machine.ultraserver_type is not None,
            instances=description.get("TotalInstanceCount", 0),
            start=description.get("StartDate"),
            end=description.get("EndDate"),
        )

    def window(self, checkpoint_lead: timedelta) -> BlockWindow | None:
        """Return the window of the block, or None if it is no block or has no usable times."""
        if not self.is_block or self.start is None or self.end is None or self.end <= self.start:
            return None
        return BlockWindow(
            start=self.start, end=self.end, ultraserver=self.ultraserver, checkpoint_lead=checkpoint_lead
        )

    def serves(self, now: datetime) -> bool:
        """Return whether jobs can run in the reservation now or later, so that its queue stays open."""
        window = self.window(timedelta(0))
        usable = self.state == ACTIVE or self.state in UPCOMING
        return usable and window is not None and now < window.drain_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Compute environment of the block.

    Attributes:
        enabled: Whether it places jobs.
        status: Status, such as ``VALID``. Default: ``VALID``.
        reason: Status reason that AWS Batch reports. Default: none.
    """

    enabled: bool
    status: str = "VALID"
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Node that refused to join the cluster and shut itself down.

    Attributes:
        node: ID of the instance.
        launched: Launch time.
        reason: Reason that the node wrote to its console. None if EC2 does not show it yet.
    """

    node: str
    launched: datetime
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """Job queue of the block.

    Attributes:
        enabled: Whether it accepts jobs.
        others_serve: Whether another compute environment serves it, now or when its own block starts. None if unknown.
        closed_by_budget: Whether a budget closed it, so that only a person reopens it. Default: False.
        status: Status, such as ``VALID``. Default: ``VALID``.
    """

    enabled: bool
    others_serve: bool | None
    closed_by_budget: bool = False
    status: str = "VALID"


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Job that has started.

    Attributes:
        job_id: ID of the job; for a multi-node job, of the whole job; for an array, of one child, unless its children are the
            nodes of one job.
        nodes: IDs of the instances that it runs on.
        children: IDs of all its array children, started or not, if they are the nodes of one job. Default: none.
    """

    job_id: str
    nodes: frozenset[str]
    children: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """Auto Scaling group that starts the nodes of the block.

    Attributes:
        desired: Desired capacity.
        most: Maximum size.
        protected: IDs of its instances in service that are protected from scaling in. Default: none.
        exposed: IDs of its instances in service that are not. Default: none.
    """

    desired: int
    most: int
    protected: frozenset[str] = frozenset()
    exposed: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Observations:
    """Observations of one run. None means that a value could not be read; nothing is done about it then.

    Attributes:
        now: Time of the observations.
        reservation_id: Reservation of the block.
        checkpoint_lead: Time between the checkpoint request and the drain.
        reservation: The reservation. None if EC2 does not know it, or has forgotten it.
        environment: Compute environment of the block.
        queue: Job queue of the block.
        nodes: IDs of the instances that run in this reservation, and in no other.
        jobs: Jobs that have started, wherever they run.
        extension_pending: Whether the payment of an extension is still processed. None if unknown.
        launched: Launch times of `nodes`. Default: unknown.
        refusals: Nodes of the block that refused to join the cluster, as long as EC2 shows them. Default: none.
        max_refusals: Number of refusals in a row that close the environment. Default: 3.
        has_fleet: Whether an Auto Scaling group starts the nodes. Then `max_refusals` limits refusals in an hour, and the
            group stops replacing nodes above it; the environment stays open. Default: False, AWS Batch starts them.
        fleet: The group. Default: none, or unknown.
    """

    now: datetime
    reservation_id: str
    checkpoint_lead: timedelta
    reservation: Reservation | None
    environment: Environment | None
    queue: Queue | None
    nodes: frozenset[str] | None
    jobs: tuple[Job, ...] | None
    extension_pending: bool | None
    launched: Mapping[str, datetime] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] | None = ()
    max_refusals: int = 3
    has_fleet: bool = False
    fleet: Fleet | None = None

    @cached_property
    def window(self) -> BlockWindow | None:
        """Window of the block. None if it has none."""
        return self.reservation.window(self.checkpoint_lead) if self.reservation else None

    @cached_property
    def busy(self) -> frozenset[str]:
        """Nodes of the block on which a job runs."""
        return (self.nodes or frozenset()) & frozenset(node for job in self.jobs or () for node in job.nodes)

    @cached_property
    def joined_at(self) -> datetime | None:
        """Launch time of the newest node that has joined the cluster. None without any."""
        return max(
            (
                launched
                for node, launched in self.launched.items()
                if node in self.busy or self.now - launched >= BOOT_TIME
            ),
            default=None,
        )
