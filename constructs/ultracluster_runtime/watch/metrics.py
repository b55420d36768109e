"""Compute the metrics of a cluster from observations. Pure: no AWS calls, no clock."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from ultracluster_runtime.lifecycle.observations import ACTIVE, BOOT_TIME, Reservation

_NO_LEAD = timedelta(0)
_BLOCKED = ("MISCONFIGURATION:", "CAPACITY:", "ACTION_REQUIRED", "UNDETERMINED")
"""Status reasons of jobs that cannot start, by prefix:
https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html
"""

_ENVIRONMENT_INVALID = "ACTION_REQUIRED"
"""Status reason that also matters before a block starts: its environment would not launch a node then either."""

_LEAST_LATE = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingJob:
    """Job in state RUNNABLE."""

    since: datetime  # submission time; AWS Batch does not record when the state was entered
    reason: str  # status reason that AWS Batch reports, if any


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Training steps of one minute."""

    at: datetime  # the minute
    seconds: float  # mean duration of a step in seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterObservations:
    """Observations of a cluster at one time."""

    now: datetime
    # Reservations that EC2 knows, with the number of instances in use
    reservations: tuple[tuple[Reservation, int], ...]
    without_reservation: bool  # whether the cluster also has capacity without a reservation
    launched: tuple[datetime, ...]  # launch times of the running instances
    # Launch times of the instances that refused to join, as long as EC2 shows them
    refused: tuple[datetime, ...]
    invalid_environments: int  # number of compute environments that are INVALID
    waiting: tuple[WaitingJob, ...]  # jobs in state RUNNABLE
    running: tuple[datetime, ...]  # start times of the running jobs
    steps: tuple[Step, ...]  # minutes with training steps, in any order


def compute_metrics(observations: ClusterObservations) -> Mapping[str, float]:
    """Return the metrics by name, without those that cannot be computed."""
    active = [
        (reservation, used) for reservation, used in observations.reservations if reservation.state == ACTIVE
    ]
    paid = sum(reservation.instances for reservation, _ in active)
    usable = bool(active) or observations.without_reservation
    metrics = {
        # Zero, so that the metric has a value when no node reports.
        "NodesReporting": 0,
        "PaidNodes": paid,
        "UnusedNodes": paid - sum(used for _, used in active),
        "RunningNodes": sum(observations.now - launched >= BOOT_TIME for launched in observations.launched),
        "NodesRefused": len(observations.refused),
        "InvalidEnvironments": observations.invalid_environments,
        "RunnableJobs": len(observations.waiting),
        "RunningJobs": len(observations.running),
        # Jobs that wait for a block to start are neither late nor blocked.
        "BlockedJobs": sum(
            job.reason.startswith(_BLOCKED if usable else _ENVIRONMENT_INVALID)
            for job in observations.waiting
        ),
        "WaitSeconds": _wait(observations, [reservation for reservation, _ in active]) if usable else 0,
    }
    drains = [window.drain_at for reservation, _ in active if (window := reservation.window(_NO_LEAD))]
    if drains:
        metrics["SecondsToDrain"] = max(0.0, (min(drains) - observations.now).total_seconds())
    late = _lateness(observations)
    if late is not None:
        metrics["StepLateness"] = late
    return metrics


def _wait(observations: ClusterObservations, active: Iterable[Reservation]) -> float:
    """Return how long the oldest startable job has waited, not counting time before the reservation started."""
    starts = [reservation.start for reservation in active if reservation.start]
    since = [
        job.since if observations.without_reservation else max(job.since, min(starts, default=job.since))
        for job in observations.waiting
    ]
    return max(((observations.now - start).total_seconds() for start in since), default=0)


def _lateness(observations: ClusterObservations) -> float | None:
    """Return the delay of the next step in median step times; None unless a running job has made steps."""
    if not observations.steps or not observations.running:
        return None
    last = max(step.at for step in observations.steps) + timedelta(minutes=1)
    # A job without steps yet is compiling, or is not a training job.
    if not any(started < last for started in observations.running):
        return None
    silent = observations.now - last
    if silent < _LEAST_LATE:
        return 0.0
    return silent.total_seconds() / max(0.001, median(step.seconds for step in observations.steps))
