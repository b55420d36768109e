"""From what is seen of a cluster follow its figures. No AWS and no clock here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from ultracluster_runtime.lifecycle.observations import ACTIVE, Reservation

__all__ = ["BOOT_TIME", "Seen", "Step", "WaitingJob", "figures"]

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
class Seen:
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


def figures(seen: Seen) -> Mapping[str, float]:
    """Give the metrics of one look by their names; what cannot be said is left out.

    Args:
        seen: What was seen.
    """
    active = [(each, used) for each, used in seen.reservations if each.state == ACTIVE]
    paid = sum(each.instances for each, _ in active)
    usable = bool(active) or seen.without_reservation
    known = {
        # So that there is a value when no node reports; it adds nothing to the sum.
        "NodesReporting": 0,
        "PaidNodes": paid,
        "UnusedNodes": paid - sum(used for _, used in active),
        "RunningNodes": sum(seen.now - each >= BOOT_TIME for each in seen.launched),
        "RunnableJobs": len(seen.waiting),
        "RunningJobs": len(seen.running),
        # What waits for a block to start is neither late nor blocked.
        "BlockedJobs": sum(each.reason.startswith(_BLOCKED) for each in seen.waiting) if usable else 0,
        "WaitSeconds": _wait(seen, [each for each, _ in active]) if usable else 0,
    }
    drains = [window.drain_at for each, _ in active if (window := each.window(_NO_LEAD))]
    if drains:
        known["SecondsToDrain"] = max(0.0, (min(drains) - seen.now).total_seconds())
    late = _lateness(seen)
    if late is not None:
        known["StepLateness"] = late
    return known


def _wait(seen: Seen, active: Iterable[Reservation]) -> float:
    """How long the oldest job waits that could run: not from before a reservation, if all capacity is reserved."""
    starts = [each.start for each in active if each.start]
    since = [
        each.since if seen.without_reservation else max(each.since, min(starts, default=each.since))
        for each in seen.waiting
    ]
    return max(((seen.now - each).total_seconds() for each in since), default=0)


def _lateness(seen: Seen) -> float | None:
    """How late the next step is, in medians; None unless a job runs that has stepped."""
    if not seen.steps or not seen.running:
        return None
    last = max(each.at for each in seen.steps) + timedelta(minutes=1)
    # A job that has made no step yet compiles, or is not one that trains.
    if not any(started < last for started in seen.running):
        return None
    silent = seen.now - last
    if silent < _LEAST_LATE:
        return 0.0
    return silent.total_seconds() / max(0.001, median(each.seconds for each in seen.steps))
