"""Values that describe a pending job and everything it may wait for."""

from dataclasses import dataclass
from datetime import datetime

from ultracluster_runtime.lifecycle.observations import Reservation


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Job."""

    id: str
    name: str
    status: str  # such as RUNNABLE
    status_reason: str
    nodes: int  # number of nodes that it needs at once
    vcpus: int | None  # vCPUs requested per node
    memory_mib: int | None  # memory requested per node in MiB
    share: str | None
    dependencies: tuple[tuple[str, str], ...] = ()  # ID and state of each job it depends on
    # Whether it is a multi-node job, which AWS Batch places differently from other jobs
    multi_node: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Capacity:
    """Reservation that an environment launches into."""

    id: str
    reservation: Reservation | None  # reservation as EC2 describes it; None if EC2 does not know it
    available: int = 0  # number of free instances


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Compute environment of a queue."""

    name: str
    enabled: bool
    status: str
    status_reason: str
    max_vcpus: int | None  # maximum number of vCPUs; None without a limit
    desired_vcpus: int | None  # vCPUs that AWS Batch requests now; None if not reported
    instance_type: str | None  # None if there is not exactly one
    capacity: Capacity | None  # reservation of its launch template
    nodes_joined: int | None  # nodes that have joined its ECS cluster; None if unknown
    spot: bool = False
    group: str = ""  # Auto Scaling group that starts its nodes; empty if AWS Batch starts them
    activity: str = ""  # status message of the last activity of the group, if it failed


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedJob:
    """Another job of the queue."""

    id: str
    nodes: int  # number of nodes it has, or needs at once
    share: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """Quota on running instances that applies to the instance type."""

    name: str  # name in Service Quotas
    vcpus: float
    request: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingJob:
    """Job and everything it may wait for, at one time."""

    now: datetime
    job: Job
    queue: str
    queue_enabled: bool  # whether the queue accepts new jobs
    queue_status: str
    queue_status_reason: str
    environments: tuple[Environment, ...]  # compute environments of the queue, in order
    ahead: tuple[QueuedJob, ...] | None  # jobs that start before this one, in order; None if unknown
    running: tuple[QueuedJob, ...] | None  # started jobs of the queue; None if unknown
    quota: Quota | None  # quota that applies; None if there is none, or it is unknown
    unseen: tuple[str, ...] = ()  # what could not be read, and why
