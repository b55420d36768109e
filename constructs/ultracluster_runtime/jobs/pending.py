"""Values that describe a pending job and everything it may wait for."""

from dataclasses import dataclass
from datetime import datetime

from ultracluster_runtime.lifecycle.observations import Reservation


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Job.

    Attributes:
        id: ID of the job.
        name: Name of the job.
        status: State, such as ``RUNNABLE``.
        status_reason: Status reason that AWS Batch reports; empty if none.
        nodes: Number of nodes that it needs at once.
        vcpus: vCPUs requested per node. None if not specified.
        memory_mib: Memory requested per node in MiB. None if not specified.
        share: Share identifier. None without one.
        dependencies: ID and state of each job it depends on.
        multi_node: Whether it is a multi-node job, which AWS Batch places differently from other jobs.
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
    """Reservation that an environment launches into.

    Attributes:
        id: ID of the reservation.
        reservation: Reservation as EC2 describes it. None if EC2 does not know it.
        available: Number of free instances.
    """

    id: str
    reservation: Reservation | None
    available: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Compute environment of a queue.

    Attributes:
        name: Name of the environment.
        enabled: Whether it places jobs.
        status: Status, such as ``VALID`` or ``INVALID``.
        status_reason: Status reason that AWS Batch reports.
        max_vcpus: Maximum number of vCPUs. None without a limit.
        desired_vcpus: vCPUs that AWS Batch requests now. None if not reported.
        instance_type: Instance type. None if there is not exactly one.
        capacity: Reservation of its launch template. None without one.
        nodes_joined: Nodes that have joined its ECS cluster. None if unknown.
        spot: Whether it launches Spot Instances.
        group: Name of the Auto Scaling group that starts its nodes. Empty if AWS Batch starts them.
        activity: Status message of the last activity of the group, if it failed.
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
    group: str = ""
    activity: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedJob:
    """Another job of the queue.

    Attributes:
        id: ID of the job.
        nodes: Number of nodes it has, or needs at once.
        share: Share identifier. None without one.
    """

    id: str
    nodes: int
    share: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """Quota on running instances that applies to the instance type.

    Attributes:
        name: Name in Service Quotas.
        vcpus: Value in vCPUs.
        request: Command that requests the increase that the job needs.
    """

    name: str
    vcpus: float
    request: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingJob:
    """Job and everything it may wait for, at one time.

    Attributes:
        now: Time of the observations.
        job: The job.
        queue: Name of the queue.
        queue_enabled: Whether the queue accepts new jobs.
        queue_status: Status, such as ``VALID``.
        queue_status_reason: Status reason that AWS Batch reports.
        environments: Compute environments of the queue, in order.
        ahead: Jobs that start before this one, in order. None if unknown.
        running: Started jobs of the queue. None if unknown.
        quota: Quota that applies. None if there is none, or it is unknown.
        unseen: What could not be read, and why.
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
