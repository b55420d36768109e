"""Observations of AWS in one life cycle run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES, announced_chip
from ultracluster_runtime.functions.window import BlockWindow

ACTIVE: Final = "active"  # state of a reservation whose capacity can be used
UPCOMING: Final = frozenset({"assessing", "delayed", "payment-pending", "pending", "scheduled"})
"""States of a reservation whose capacity is still to be delivered."""

ENDED: Final = frozenset({"cancelled", "cancelling", "expired", "failed", "payment-failed", "unsupported"})
"""States of a reservation that has no capacity and never will. States in none of these sets are unexpected."""

CHANGING: Final = frozenset({"CREATING", "UPDATING", "DELETING", "DELETED"})
"""Statuses of a compute environment or queue in which AWS Batch refuses changes: the resource is being modified."""

SHUT_DOWN_FROM_INSIDE: Final = "Client.InstanceInitiatedShutdown"
"""State reason of an instance that shut itself down (StateReason, EC2 API Reference, read 2026-11): only nodes that refuse do."""

BOOT_TIME: Final = timedelta(minutes=10)  # time after which a node has joined the cluster, or has refused to


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """Reservation of a block, as EC2 describes it."""

    state: str  # such as scheduled or active
    is_block: bool
    ultraserver: bool  # whether its instances belong to an UltraServer, which EC2 terminates earlier
    instances: int  # number of instances; EC2 reports 0 before the start
    start: datetime | None
    end: datetime | None

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "Reservation":
        """Create a reservation from a CapacityReservation of DescribeCapacityReservations."""
        name = description["InstanceType"]
        instance_type = INSTANCE_TYPES.get(name)
        return cls(
            state=description["State"],
            is_block=description.get("ReservationType") == "capacity-block",
            # A chip without published types is known in UltraServers only.
            ultraserver=instance_type.in_ultraserver if instance_type else announced_chip(name) is not None,
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
    """Compute environment of the block."""

    enabled: bool
    status: str = "VALID"
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Node that refused to join the cluster and shut itself down."""

    node: str
    launched: datetime
    reason: str | None = None  # reason that the node wrote to its console; None if EC2 does not show it yet


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """Job queue of the block."""

    enabled: bool
    # Whether another compute environment serves it, now or when its own block starts. None if unknown.
    others_serve: bool | None
    closed_by_budget: bool = False  # whether a budget closed it, so that only a person reopens it
    status: str = "VALID"


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Job that has started."""

    # ID of the job; for a multi-node job, of the whole job; for an array, of one child, unless its children
    # are the nodes of one job
    job_id: str
    nodes: frozenset[str]  # IDs of the instances that it runs on
    # IDs of all its array children, started or not, if they are the nodes of one job
    children: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Stray:
    """Node that was launched for the block and runs outside it."""

    node: str
    reservation_id: str | None  # reservation that it runs in; None for none


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """Auto Scaling group that starts the nodes of the block."""

    desired: int
    most: int
    # IDs of its instances in service that are protected from scaling in
    protected: frozenset[str] = frozenset()
    exposed: frozenset[str] = frozenset()  # IDs of its instances in service that are not


@dataclass(frozen=True, kw_only=True, slots=True)
class Sickness:
    """What is wrong with a node."""

    reason: str  # its faults, in words
    in_memory: bool = False  # whether values were lost, so that a checkpoint that is written now may be wrong


@dataclass(frozen=True, kw_only=True)
class Observations:
    """Observations of one run. None means that a value could not be read; nothing is done about it then."""

    now: datetime
    reservation_id: str
    checkpoint_lead: timedelta  # time between the checkpoint request and the drain
    reservation: Reservation | None  # None if EC2 does not know it, or has forgotten it
    environment: Environment | None
    queue: Queue | None
    nodes: frozenset[str] | None  # IDs of the instances that run in this reservation, and in no other
    jobs: tuple[Job, ...] | None  # jobs that have started, wherever they run
    extension_pending: bool | None  # whether the payment of an extension is still processed; None if unknown
    launched: Mapping[str, datetime] = field(default_factory=dict)  # launch times of nodes; default: unknown
    # Nodes of the block that refused to join the cluster, as long as EC2 shows them
    refusals: tuple[Refusal, ...] | None = ()
    max_refusals: int = 3  # number of refusals in a row that close the environment
    # Whether an Auto Scaling group starts the nodes. Then max_refusals limits refusals in an hour, and the
    # group stops replacing nodes above it; the environment stays open.
    has_fleet: bool = False
    fleet: Fleet | None = None
    waiting: str | None = None  # ID of a job that could run on a node, read only while the block has none
    strays: tuple[Stray, ...] = ()
    sick: Mapping[str, Sickness] = field(default_factory=dict)  # sick nodes of the block, by instance ID
    replaces_sick: bool = False  # whether sick nodes are replaced without a person
    # IDs of the jobs on sick nodes that are submitted again when they lose a node
    resumed: frozenset[str] = frozenset()

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
