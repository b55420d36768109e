"""What is seen of a job that waits, and of everything that it may wait for. Values only."""

from dataclasses import dataclass
from datetime import datetime

from ultracluster_runtime.lifecycle.observations import Reservation

__all__ = ["Capacity", "Environment", "Job", "PendingJob", "QueuedJob", "Quota"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """The job.

    Attributes:
        id: Its id.
        name: Its name.
        status: Its state, such as ``RUNNABLE``.
        status_reason: What AWS Batch says about it; empty if nothing.
        nodes: How many nodes it needs at once.
        vcpus: vCPUs that it asks for on each node; None if it names none.
        memory_mib: Memory that it asks for on each node; None if it names none.
        share: Its share identifier; None if it has none.
        dependencies: Jobs that it depends on, each with its state.
        multi_node: Whether it is a multi-node job, which AWS Batch places in one way and others in another.
    """

    id: str
    name: str
    status: str
    status_reason: str
    nodes: int
    vcpus: int | None
    memory_mib: int | None
    share: str | None
    dependencies: tuple[tuple[str, str], ...] = ()
    multi_node: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Capacity:
    """The reservation that an environment launches into.

    Attributes:
        id: Its id.
        reservation: What EC2 shows of it; None when EC2 does not know it.
        available: Instances of it that are free now.
    """

    id: str
    reservation: Reservation | None
    available: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """A compute environment of the queue.

    Attributes:
        name: Its name.
        enabled: Whether it places jobs.
        status: Such as ``VALID`` or ``INVALID``.
        status_reason: What AWS Batch says about it.
        max_vcpus: The most vCPUs that it may have; None if it has no such limit.
        desired_vcpus: vCPUs that AWS Batch wants now; None if it does not say.
        instance_type: The type, if it is one only.
        capacity: The reservation of its launch template; None without one.
        nodes_joined: Nodes that have joined its ECS cluster; None if that was not seen.
        spot: Whether its nodes are Spot nodes.
    """

    name: str
    enabled: bool
    status: str
    status_reason: str
    max_vcpus: int | None
    desired_vcpus: int | None
    instance_type: str | None
    capacity: Capacity | None
    nodes_joined: int | None
    spot: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedJob:
    """Another job of the queue.

    Attributes:
        id: Its id.
        nodes: How many nodes it has, or needs at once.
        share: Its share identifier; None if it has none.
    """

    id: str
    nodes: int
    share: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """The quota on running instances that counts for the type.

    Attributes:
        name: Its name in Service Quotas.
        vcpus: Its value.
        request: The command that asks for what the job needs.
    """

    name: str
    vcpus: float
    request: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingJob:
    """A job and its surroundings at one time.

    Attributes:
        now: When they were seen.
        job: The job.
        queue: Name of the queue.
        queue_enabled: Whether the queue takes new jobs.
        queue_status: Such as ``VALID``.
        queue_status_reason: What AWS Batch says about the queue.
        environments: Its compute environments, in order.
        ahead: Jobs that the queue starts before this one, in order; None if the order was not seen.
        running: Jobs of the queue that have started; None if they were not seen.
        quota: The quota; None where none counts, or it was not seen.
        unseen: What could not be seen, and why.
    """

    now: datetime
    job: Job
    queue: str
    queue_enabled: bool
    queue_status: str
    queue_status_reason: str
    environments: tuple[Environment, ...]
    ahead: tuple[QueuedJob, ...] | None
    running: tuple[QueuedJob, ...] | None
    quota: Quota | None
    unseen: tuple[str, ...] = ()
