"""Read the observations of a cluster watch from AWS. All calls are read-only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any, Final

from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, NAMESPACE
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.lifecycle.observations import SHUT_DOWN_FROM_INSIDE, Reservation
from ultracluster_runtime.lifecycle.reader import (
    ENDING,
    chunks,
    describe_reservation,
    find_instances,
    list_jobs,
)
from ultracluster_runtime.metrics.metric_reads import read_points
from ultracluster_runtime.watch.metrics import ClusterObservations, Step, WaitingJob

_STEPS_BACK: Final = timedelta(hours=3)
_MINUTE: Final = timedelta(minutes=1)
_ENVIRONMENTS_PER_CALL: Final = 100  # DescribeComputeEnvironments, API Reference, read 2026-11


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedCluster:
    """Cluster to watch."""

    cluster: str
    job_queues: tuple[str, ...]
    reservations: tuple[str, ...]
    instance_profiles: tuple[str, ...]  # ARNs of the instance profiles of its nodes
    without_reservation: bool  # whether it also has capacity without a reservation


def observe(watched: WatchedCluster, clients: Clients, now: datetime) -> ClusterObservations:
    """Read all observations. If one cannot be read, nothing is published, and the alarm on missing metrics fires."""
    reservations = _reservations(watched, clients)
    arrays = _arrays(watched, clients)
    instances = partial(find_instances, clients("ec2"), "iam-instance-profile.arn", watched.instance_profiles)
    return ClusterObservations(
        now=now,
        reservations=reservations,
        without_reservation=watched.without_reservation,
        launched=tuple(instance["LaunchTime"] for instance in instances(["running"])),
        refused=tuple(
            instance["LaunchTime"]
            for instance in instances(ENDING)
            if instance.get("StateReason", {}).get("Code") == SHUT_DOWN_FROM_INSIDE
        ),
        invalid_environments=_invalid_environments(watched, clients),
        waiting=tuple(
            WaitingJob(since=_moment(job["createdAt"]), reason=job.get("statusReason", ""))
            for job in _jobs(watched, clients, arrays, "RUNNABLE")
        ),
        running=tuple(
            _moment(job["startedAt"])
            for job in _jobs(watched, clients, arrays, "RUNNING")
            if "startedAt" in job  # an optional member in the API Reference
        ),
        steps=_steps(watched, clients, now),
    )


def _reservations(watched: WatchedCluster, clients: Clients) -> tuple[tuple[Reservation, int], ...]:
    found = (describe_reservation(clients("ec2"), reservation_id) for reservation_id in watched.reservations)
    return tuple(
        (
            Reservation.from_description(description),
            description["TotalInstanceCount"] - description["AvailableInstanceCount"],
        )
        for description in found
        if description is not None
    )


def _invalid_environments(watched: WatchedCluster, clients: Clients) -> int:
    queues = clients("batch").describe_job_queues(jobQueues=list(watched.job_queues))["jobQueues"]
    arns = sorted(
        {entry["computeEnvironment"] for queue in queues for entry in queue["computeEnvironmentOrder"]}
    )
    return sum(
        environment.get("status") == "INVALID"
        for chunk in chunks(arns, _ENVIRONMENTS_PER_CALL)
        for environment in clients("batch").describe_compute_environments(computeEnvironments=chunk)[
            "computeEnvironments"
        ]
    )


def _arrays(watched: WatchedCluster, clients: Clients) -> list[str]:
    """Return the IDs of arrays, which are PENDING until all of their children have ended."""
    return [
        job["jobId"]
        for queue in watched.job_queues
        for job in list_jobs(clients("batch"), ["PENDING"], jobQueue=queue)
        if "arrayProperties" in job
    ]


def _jobs(
    watched: WatchedCluster, clients: Clients, arrays: Sequence[str], status: str
) -> Iterator[dict[str, Any]]:
    """Yield jobs in a status, and of each array the first child in it."""
    for queue in watched.job_queues:
        for job in list_jobs(clients("batch"), [status], jobQueue=queue):
            if "arrayProperties" not in job:
                yield job
    for array in arrays:
        yield from islice(list_jobs(clients("batch"), [status], arrayJobId=array), 1)


def _steps(watched: WatchedCluster, clients: Clients, now: datetime) -> tuple[Step, ...]:
    metric = (NAMESPACE, "StepSeconds", "Average", ((CLUSTER_DIMENSION, watched.cluster),))
    (points,) = read_points(clients("cloudwatch"), [metric], start=now - _STEPS_BACK, end=now, period=_MINUTE)
    return tuple(Step(at=at, seconds=seconds) for at, seconds in points.items())


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
