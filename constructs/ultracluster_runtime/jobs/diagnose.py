"""Diagnose why a job waits: each reason with its evidence and remedy. Pure; several reasons can apply at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ultracluster_catalog.capacity.capacity_blocks import EXTENSION_CLOSES
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.lifecycle.observations import ACTIVE, UPCOMING, Reservation

# What is known of the job


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
    gpus: int = 0  # GPUs requested per node
    instance_type: str = ""  # type that a multi-node job asks for; empty if it takes that of the queue
    # States of the children of an array, each with its number
    children: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Capacity:
    """Reservation that an environment launches into."""

    id: str
    reservation: Reservation | None  # reservation as EC2 describes it; None if EC2 does not know it
    available: int = 0  # number of free instances
    is_block: bool = False  # whether it is a Capacity Block, or was one until EC2 forgot it


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
    hosts: frozenset[str] = frozenset()  # container instances that it runs on; jobs can share them
    vcpus: int | None = None  # vCPUs that it has of its node; None if it has its nodes to itself


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumable:
    """Consumable resource of AWS Batch that the job asks for."""

    name: str
    needed: int
    total: int
    free: int


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
    queue_enabled: bool = True  # whether the queue accepts new jobs
    queue_status: str = "VALID"
    queue_status_reason: str = ""
    environments: tuple[Environment, ...] = ()  # compute environments of the queue, in order
    ahead: tuple[QueuedJob, ...] | None = None  # jobs that start before this one, in order; None if unknown
    running: tuple[QueuedJob, ...] | None = None  # started jobs of the queue; None if unknown
    quota: Quota | None = None  # quota that applies; None if there is none, or it is unknown
    consumables: tuple[Consumable, ...] = ()
    unseen: tuple[str, ...] = ()  # what could not be read, and why


# Reasons

_SHOWN_STATES = {
    "PENDING": "waits for the jobs it depends on",
    "STARTING": "has its nodes; the containers are starting",
    "RUNNING": "is running",
    "SUBMITTED": "was submitted; AWS Batch has not evaluated it yet",
    "SUCCEEDED": "has succeeded",
    "FAILED": "has failed",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Reason why a job waits."""

    reason: str  # stable name, such as block-not-started
    evidence: str
    remedy: str
    source: str = ""  # page that shows or explains the evidence, if it is not ours


def diagnose(pending: PendingJob) -> list[Reason]:
    """Return all reasons why a job waits; empty if nothing blocks it."""
    if pending.job.status != "RUNNABLE":
        return [_explain_state(pending)]
    diagnosed = [*_from_status_reason(pending), *_queue_reasons(pending), *_sources(pending)]
    for environment in pending.environments:
        diagnosed += _environment_reasons(environment)
        if environment.capacity is not None:
            diagnosed += _capacity_reasons(environment.capacity, pending, environment)
        diagnosed += _type_reasons(environment, pending)
        diagnosed += _size_reasons(environment, pending)
        diagnosed += _node_reasons(environment, pending)
    return [*diagnosed, *_order_reasons(pending), *_quota_reasons(pending), *_consumable_reasons(pending)]


def _explain_state(pending: PendingJob) -> Reason:
    job = pending.job
    evidence = f"job {job.id} {_SHOWN_STATES.get(job.status, f'is in the unknown state {job.status}')}"
    if job.status_reason and job.status != "SUCCEEDED":
        evidence += f" ({job.status_reason})"
    if job.children:
        counts = ", ".join(f"{count} {state}" for state, count in job.children)
        evidence += f"; of its {sum(count for _, count in job.children)} children {counts}"
    if job.dependencies and job.status in {"PENDING", "FAILED"}:
        evidence += "; it depends on " + ", ".join(
            f"{job_id} ({state})" for job_id, state in job.dependencies
        )
    failed = [job_id for job_id, state in job.dependencies if state == "FAILED"]
    remedy = "It does not wait for capacity"
    if failed:
        remedy = f"Find out why that one failed: ultracluster jobs why {failed[0]}; then submit both again"
    elif dict(job.children).get("RUNNABLE"):
        remedy = f"To see why a child waits: ultracluster jobs why {job.id}:N, with its index"
    elif job.status == "SUCCEEDED":
        remedy = f"Nothing to do; for its log: ultracluster jobs logs {job.id}"
    elif job.status == "FAILED":
        remedy = f"What is known follows; for more of its log: ultracluster jobs logs {job.id} --tail 1000"
    return Reason(reason=job.status.lower(), evidence=evidence, remedy=remedy)


def _from_status_reason(pending: PendingJob) -> Iterator[Reason]:
    status_reason = pending.job.status_reason
    if status_reason.startswith("CAPACITY:"):
        yield Reason(
            reason="insufficient-capacity",
            evidence=f"AWS Batch reports: {status_reason}",
            remedy="With a reservation: check that it is active and that the launch template of the nodes targets it. "
            "Without one: reserve capacity (ultracluster capacity find), or wait",
        )
    elif status_reason.startswith("MISCONFIGURATION:"):
        yield Reason(
            reason="misconfiguration",
            evidence=f"AWS Batch reports: {status_reason}",
            remedy="Stop the job, correct its definition or the compute environment, and submit it again",
        )
    elif status_reason.startswith("ACTION_REQUIRED"):
        invalid = [environment for environment in pending.environments if environment.status == "INVALID"]
        yield Reason(
            reason="action-required",
            evidence=f"AWS Batch reports: {status_reason}",
            remedy="Mend the compute environments that are INVALID, as described below"
            if invalid
            # The status reason of a job stays for some minutes after its cause.
            else "Nothing to do: no compute environment of the queue is INVALID any more",
        )
    elif status_reason.startswith("UNDETERMINED"):
        yield Reason(
            reason="undetermined",
            evidence=f"AWS Batch reports: {status_reason}",
            remedy="AWS Batch does not know the cause: check the reasons below, the activity of the Auto Scaling group of the "
            "compute environment, and that its nodes reach Amazon ECS (their console and ultracluster-boot.log)",
        )


def _queue_reasons(pending: PendingJob) -> Iterator[Reason]:
    if pending.queue_status == "INVALID":
        yield Reason(
            reason="queue-invalid",
            evidence=f"queue {pending.queue} is INVALID: {pending.queue_status_reason}",
            remedy="Correct the reported cause; a deployment without changes does not fix it",
        )
    if not pending.queue_enabled:
        yield Reason(
            reason="queue-disabled",
            evidence=f"queue {pending.queue} is DISABLED: it accepts no new jobs; queued jobs keep their place",
            remedy="This is expected after the drain of a Capacity Block (`ultracluster docs capacity-lifecycle`); enable the queue when "
            "there is capacity",
        )


def _sources(pending: PendingJob) -> Iterator[Reason]:
    """Yield reasons that affect multi-node jobs in queues with several capacity sources or Spot nodes."""
    if not pending.job.multi_node:
        return
    spot = [environment.name for environment in pending.environments if environment.spot]
    if spot:
        yield Reason(
            reason="spot-runs-no-multi-node-jobs",
            evidence=f"{', '.join(spot)} has Spot nodes, on which AWS Batch runs no multi-node jobs; a job placed there waits "
            "forever",
            remedy="Stop the job and submit it to a queue without Spot nodes (--queue)",
        )
    candidates = [
        environment
        for environment in pending.environments
        if environment.enabled
        and environment.status != "INVALID"
        and not environment.spot
        and _is_large_enough(environment, pending)
    ]
    if len(candidates) > 1 and (missing := _missing_capacity(candidates[0], pending)):
        first, *others = (environment.name for environment in candidates)
        yield Reason(
            reason="held-by-the-first-source",
            evidence=f"{first} is the first compute environment that is enabled and large enough, and {missing}; AWS Batch "
            f"keeps a multi-node job there and does not try {', '.join(others)}",
            remedy="Wait for it; or submit the job to another queue (--queue); or disable it while it has no "
            f"capacity: aws batch update-compute-environment --compute-environment {first} --state DISABLED",
        )


def _missing_capacity(environment: Environment, pending: PendingJob) -> str:
    """Return why an enabled environment has no instances for the job; empty if nothing indicates that."""
    capacity = environment.capacity
    if capacity is not None and capacity.reservation is not None:
        if capacity.reservation.state != ACTIVE:
            return f"{capacity.id} is {capacity.reservation.state}"
        joined = environment.nodes_joined or 0
        if capacity.available + joined < pending.job.nodes:
            return f"{capacity.available} instances of {capacity.id} are free"
    if pending.job.status_reason.startswith("CAPACITY:"):
        return f"AWS Batch reports: {pending.job.status_reason}"
    return ""


def _is_large_enough(environment: Environment, pending: PendingJob) -> bool:
    instance_type = _type(environment)
    vcpus_per_node = instance_type.vcpus if instance_type else pending.job.vcpus
    return (
        not vcpus_per_node
        or environment.max_vcpus is None
        or pending.job.nodes * vcpus_per_node <= environment.max_vcpus
    )


def _environment_reasons(environment: Environment) -> Iterator[Reason]:
    if environment.status == "INVALID":
        yield Reason(
            reason="environment-invalid",
            evidence=f"compute environment {environment.name} is INVALID: {environment.status_reason}",
            # AWS Batch User Guide, "INVALID compute environment", read 2026-11. CloudFormation sends nothing to Batch in a
            # deployment without a change, so that the environment stays INVALID.
            remedy="Correct the reported cause (often the instance profile, a subnet, user data that is not MIME multipart, or nodes "
            "that do not join), then let AWS Batch check it again: "
            f"aws batch update-compute-environment --compute-environment {environment.name} --state DISABLED, and the same "
            "with --state ENABLED. A deployment without changes does not trigger this check",
        )
    if not environment.enabled:
        yield Reason(
            reason="environment-disabled",
            evidence=f"compute environment {environment.name} is DISABLED and places no jobs",
            remedy="For a Capacity Block it is enabled at the start and disabled at the drain "
            "(`ultracluster docs capacity-lifecycle`): check the reservation. Otherwise enable it: "
            f"aws batch update-compute-environment --compute-environment {environment.name} --state ENABLED",
        )


def _capacity_reasons(capacity: Capacity, pending: PendingJob, environment: Environment) -> Iterator[Reason]:
    reservation = capacity.reservation
    if reservation is None:
        yield Reason(
            reason="reservation-unknown",
            evidence=f"{environment.name} launches into {capacity.id}, which EC2 does not know in this Region",
            remedy="Deploy with the ID of a reservation in this account and Region",
        )
        return
    window = reservation.window(checkpoint_lead=pending.now - pending.now)
    times = f", {reservation.start:%Y-%m-%d %H:%M} to {reservation.end:%Y-%m-%d %H:%M} UTC" if window else ""
    evidence = f"reservation {capacity.id} is {reservation.state}{times}"
    if reservation.state in UPCOMING:
        yield Reason(
            reason="block-not-started",
            evidence=f"{evidence}; it has no capacity yet",
            remedy="Nothing to do: the job keeps its place and starts with the capacity",
        )
    elif reservation.state != ACTIVE:
        yield Reason(
            reason="reservation-over",
            evidence=f"{evidence}; it will have no capacity",
            remedy="Find other capacity (ultracluster capacity find) and deploy with its reservation",
        )
    elif window is not None and pending.now >= window.drain_at:
        yield Reason(
            reason="block-drained",
            evidence=f"{evidence}; since {window.drain_at:%Y-%m-%d %H:%M} UTC no jobs start in it",
            remedy="Extend the block (ultracluster capacity extend), or deploy with another reservation"
            if pending.now < window.end - EXTENSION_CLOSES
            else "Deploy with another reservation: it is too late to extend this one",
        )
    elif reservation.instances < pending.job.nodes:
        yield Reason(
            reason="reservation-too-small",
            evidence=f"{evidence} with {reservation.instances} instances; the job needs {pending.job.nodes} at once",
            remedy=f"Stop the job and submit it with --nodes {reservation.instances} or fewer, or reserve more capacity",
        )


def _type(environment: Environment) -> InstanceType | None:
    return INSTANCE_TYPES.get(environment.instance_type or "")


def _type_reasons(environment: Environment, pending: PendingJob) -> Iterator[Reason]:
    """Yield reasons of definitions that were written for other nodes."""
    job, instance_type = pending.job, _type(environment)
    if job.instance_type and instance_type and job.instance_type != instance_type.name:
        yield Reason(
            reason="another-instance-type",
            evidence=f"the definition of the job asks for {job.instance_type}; {environment.name} has {instance_type.name}",
            remedy=f"Stop the job, remove instanceType from its definition or set {instance_type.name}, and submit it again",
        )
    gpus = 0 if instance_type is None or instance_type.neuron_cores else instance_type.chips
    if instance_type and job.gpus > gpus:
        yield Reason(
            reason="more-gpus-than-the-type",
            evidence=f"the job requests {_counted(job.gpus, 'GPU')} per node; {instance_type.name} has {gpus or 'none'}"
            + (
                f", but {instance_type.chips} {instance_type.accelerator}"
                if instance_type.neuron_cores
                else ""
            ),
            remedy="Stop the job and remove the resource GPU from its definition"
            + (
                "; AWS Batch assigns no Neuron devices, so that it lists each /dev/neuronN (ultracluster docs submit-with-other-tools)"
                if instance_type.neuron_cores
                else ""
            ),
        )


def _size_reasons(environment: Environment, pending: PendingJob) -> Iterator[Reason]:
    job, instance_type = pending.job, _type(environment)
    vcpus_per_node = instance_type.vcpus if instance_type else job.vcpus
    fits_another = any(_is_large_enough(candidate, pending) for candidate in pending.environments)
    if vcpus_per_node and environment.max_vcpus is not None and not fits_another:
        yield Reason(
            reason="more-nodes-than-the-environment",
            evidence=f"{job.nodes} nodes of {vcpus_per_node} vCPUs need {job.nodes * vcpus_per_node:,} vCPUs; {environment.name} has "
            f"maxvCpus {environment.max_vcpus:,}, which is {environment.max_vcpus // vcpus_per_node} nodes",
            remedy="Stop the job and submit it with fewer --nodes, or deploy the cluster with more nodes",
        )
    if instance_type is None:
        return
    if job.vcpus is not None and job.vcpus > instance_type.vcpus:
        yield Reason(
            reason="more-vcpus-than-the-type",
            evidence=f"the job requests {job.vcpus} vCPUs per node; {instance_type.name} has {instance_type.vcpus}",
            remedy="Stop the job and lower the vCPUs in its definition",
        )
    if job.memory_mib is not None and job.memory_mib > instance_type.container_memory_mib:
        yield Reason(
            reason="more-memory-than-the-type",
            evidence=f"the job requests {job.memory_mib:,} MiB per node; of the {instance_type.memory_mib:,} MiB of "
            f"{instance_type.name} a container can use {instance_type.container_memory_mib:,} MiB "
            f"({instance_type.container_memory_source})",
            remedy="Stop the job and lower the memory in its definition",
        )


def _node_reasons(environment: Environment, pending: PendingJob) -> Iterator[Reason]:
    if not environment.enabled or environment.status == "INVALID":
        return
    capacity = environment.capacity
    if capacity is not None and (capacity.reservation is None or capacity.reservation.state != ACTIVE):
        return  # reported by _capacity
    if environment.group:
        yield from _group_reasons(environment, pending)
    elif environment.nodes_joined == 0 and environment.desired_vcpus:
        free = f", {capacity.available} instances of {capacity.id} are free" if capacity else ""
        # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html, read 2026-11.
        in_block = "no capacity; running instances of a Capacity Block need no quota"
        limits = in_block if capacity and capacity.is_block else "no capacity, a quota"
        yield Reason(
            reason="no-instances",
            evidence=f"AWS Batch requests {environment.desired_vcpus:,} vCPUs in {environment.name} and no node has "
            f"joined its ECS cluster{free}",
            remedy="This usually takes a few minutes. After that, check the activity of its Auto Scaling group for failed "
            f"launches ({limits}), and the console of nodes that ended soon after their launch for the reason why they "
            "refused to join: aws ec2 get-console-output --instance-id ID --output text",
        )
    instance_type = _type(environment)
    if instance_type is None or environment.max_vcpus is None or pending.running is None:
        return
    shares = not pending.job.multi_node and pending.job.nodes == 1 and pending.job.vcpus is not None
    if shares and _has_room(pending, instance_type):
        return
    most = environment.max_vcpus // instance_type.vcpus
    hosts = frozenset[str]().union(*(running_job.hosts for running_job in pending.running))
    # A job that starts has no hosts yet.
    busy = len(hosts) + sum(running_job.nodes for running_job in pending.running if not running_job.hosts)
    if len(pending.environments) == 1 and pending.job.nodes <= most < busy + pending.job.nodes:
        yield Reason(
            reason="nodes-busy",
            evidence=f"{busy} of {most} nodes run other jobs "
            f"({', '.join(running_job.id for running_job in pending.running[:5])}); this job needs "
            + (f"{pending.job.vcpus} vCPUs of one" if shares else str(pending.job.nodes)),
            remedy="Wait for them, or stop one of them (ultracluster jobs stop)",
        )


def _has_room(pending: PendingJob, instance_type: InstanceType) -> bool:
    """Return whether a node that runs containers has vCPUs left for a job of one node, which may share it."""
    used: dict[str, int] = {}
    for other in pending.running or ():
        for host in other.hosts:
            used[host] = used.get(host, 0) + (instance_type.vcpus if other.vcpus is None else other.vcpus)
    needed = pending.job.vcpus or 1
    return any(vcpus + needed <= instance_type.vcpus for vcpus in used.values())


def _group_reasons(environment: Environment, pending: PendingJob) -> Iterator[Reason]:
    joined, group = environment.nodes_joined or 0, environment.group
    if not environment.desired_vcpus:
        size = f"aws autoscaling set-desired-capacity --auto-scaling-group-name {group} --desired-capacity {pending.job.nodes}"
        yield Reason(
            reason="no-nodes-requested",
            evidence=f"the desired capacity of Auto Scaling group {group} is 0",
            remedy="The life cycle of the block sets it within minutes; if it does not, see its alarms"
            if environment.capacity
            else f"Start nodes, which cost until you set it to 0 again: {size}",
        )
    elif joined < pending.job.nodes:
        failed = f"; its last launch failed: {environment.activity}" if environment.activity else ""
        yield Reason(
            reason="no-instances",
            evidence=f"of Auto Scaling group {group}, {_counted(joined, 'node')} joined; the job needs {pending.job.nodes}{failed}",
            remedy="Launches usually take a few minutes and are tried again. The console of a node that ended soon after its "
            "launch says why it refused to join: aws ec2 get-console-output --instance-id ID --output text",
        )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _order_reasons(pending: PendingJob) -> Iterator[Reason]:
    if not pending.ahead:
        return
    head, job = pending.ahead[0], pending.job
    yield Reason(
        reason="behind-the-head",
        evidence=f"{_counted(len(pending.ahead), 'job')} {'is' if len(pending.ahead) == 1 else 'are'} ahead; the first is "
        f"{head.id}, which needs {_counted(head.nodes, 'node')}. "
        "A waiting job at the head blocks all jobs behind it",
        remedy=f"Find out what blocks it: ultracluster jobs why {head.id}",
    )
    if job.share is not None and head.share not in (None, job.share):
        used = sum(
            running_job.nodes for running_job in pending.running or () if running_job.share == job.share
        )
        yield Reason(
            reason="share-behind",
            evidence=f"the fair-share policy ranks {head.share!r} ahead of {job.share!r}; jobs of {job.share!r} use "
            f"{used} nodes now",
            remedy="Wait until the recent usage of the share decays (one day by default), or change its weight in the "
            "scheduling policy. Priority does not help: it applies within a share",
        )


def _quota_reasons(pending: PendingJob) -> Iterator[Reason]:
    quota = pending.quota
    instance_types = [
        instance_type for environment in pending.environments if (instance_type := _type(environment))
    ]
    if quota is None or not instance_types:
        return
    needed = pending.job.nodes * instance_types[0].vcpus
    if needed > quota.vcpus:
        yield Reason(
            reason="quota",
            evidence=f"the job needs {needed:,} vCPUs at once; the quota {quota.name!r} is {quota.vcpus:,.0f}",
            remedy=f"Request an increase: {quota.request}",
        )


def _consumable_reasons(pending: PendingJob) -> Iterator[Reason]:
    for one in pending.consumables:
        if one.needed > one.free:
            enough = one.needed <= one.total
            yield Reason(
                reason="consumable-used-up",
                evidence=f"the job needs {one.needed} of the consumable resource {one.name}, which has {one.total}; {one.free} are free",
                remedy="Wait for the jobs that have it: "
                f"aws batch list-jobs-by-consumable-resource --consumable-resource {one.name}"
                if enough
                else f"Add to it: aws batch update-consumable-resource --consumable-resource {one.name} --operation SET --quantity {one.needed}",
            )
