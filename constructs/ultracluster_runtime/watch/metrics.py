"""From what is seen of a cluster follow its figures. No AWS and no clock here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from ultracluster_runtime.lifecycle.observations import ACTIVE, Reservation

__all__ = ["BOOT_TIME", "ClusterObservations", "Step", "WaitingJob", "compute_metrics"]

BOOT_TIME = timedelta(minutes=10)
"""A node that runs for longer must report."""

_NO_LEAD = timedelta(0)
_BLOCKED = ("MISCONFIGURATION:", "CAPACITY:")
"""How AWS Batch begins the reason of a waiting job that cannot start (User Guide, jobs stuck in RUNNABLE, read 2026-11)."""

_LEAST_LATE = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingJob:
    """A job in RUNNABLE.

    Attributes:
        since: When it was submitted; AWS Batch keeps no time of the state itself.
        reason: What AWS Batch says about it, or nothing.
    """

    since: datetime
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What the training said in one minute.

    Attributes:
        at: The minute.
        seconds: The mean time of its steps.
    """

    at: datetime
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterObservations:
    """What was seen of a cluster at one look.

    Attributes:
        now: When.
        reservations: Its reservations that EC2 knows, with how many of their instances are in use.
        without_reservation: Whether it also has capacity that is not reserved.
        launched: When each of its running instances was launched.
        waiting: Jobs in RUNNABLE.
        running: When each running job started.
        steps: Minutes with steps, in any order.
    """

    now: datetime
    reservations: tuple[tuple[Reservation, int], ...]
    without_reservation: bool
    launched: tuple[datetime, ...]
    waiting: tuple[WaitingJob, ...]
    running: tuple[datetime, ...]
    steps: tuple[Step, ...]


def compute_metrics(observations: ClusterObservations) -> Mapping[str, float]:
    """Give the metrics of one look by their names; what cannot be said is left out.

    Args:
        observations: What was seen.
    """
    active = [(reservation, used) for reservation, used in observations.reservations if reservation.state == ACTIVE]
    paid = sum(reservation.instances for reservation, _ in active)
    usable = bool(active) or observations.without_reservation
    metrics = {
        # So that there is a value when no node reports; it adds nothing to the sum.
        "NodesReporting": 0,
        "PaidNodes": paid,
        "UnusedNodes": paid - sum(used for _, used in active),
        "RunningNodes": sum(observations.now - reservation >= BOOT_TIME for reservation in observations.launched),
        "RunnableJobs": len(observations.waiting),
        "RunningJobs": len(observations.running),
        # What waits for a block to start is neither late nor blocked.
        "BlockedJobs": sum(reservation.reason.startswith(_BLOCKED) for reservation in observations.waiting) if usable else 0,
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
    """How long the oldest job waits that could run: not from before a reservation, if all capacity is reserved."""
    starts = [each.start for each in active if each.start]
    since = [
        each.since if observations.without_reservation else max(each.since, min(starts, default=each.since))
        for each in observations.waiting
    ]
    return max(((observations.now - each).total_seconds() for each in since), default=0)


def _lateness(observations: ClusterObservations) -> float | None:
    """How late the next step is, in medians; None unless a job runs that has stepped."""
    if not observations.steps or not observations.running:
        return None
    last = max(each.at for each in observations.steps) + timedelta(minutes=1)
    # A job that has made no step yet compiles, or is not one that trains.
    if not any(started < last for started in observations.running):
        return None
    silent = observations.now - last
    if silent < _LEAST_LATE:
        return 0.0
    return silent.total_seconds() / max(0.001, median(each.seconds for each in observations.steps))
