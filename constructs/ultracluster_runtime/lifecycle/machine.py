"""From what is seen of a block follows what is done. No AWS and no clock here.

It does not matter what woke it: every wake-up looks at everything and does what is missing. So an event that is lost,
doubled or late changes nothing, an extension moves the clock by itself, and two wake-ups do no more than one.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

from ultracluster_runtime.lifecycle.actions import (
    Action,
    Notify,
    PartialDeliveryError,
    SetEnvironment,
    SetQueue,
    RequestCheckpoint,
    TerminateJob,
)
from ultracluster_runtime.lifecycle.observations import ACTIVE, OVER, UPCOMING, Observations
from ultracluster_runtime.lifecycle.state import LifecycleState

__all__ = ["Phase", "decide", "live", "phase_of"]

# Between the drain and the termination by EC2 lie ten minutes. Who was told late gets this much of them, and nobody
# is left to EC2 itself.
_GRACE = timedelta(minutes=8)
_LAST_CALL = timedelta(minutes=2)


class Phase(StrEnum):
    """Where a block is in its life."""

    WAITING = "waiting"
    OPEN = "open"
    DRAINING = "draining"
    ENDED = "ended"
    UNKNOWN = "unknown"


def phase_of(facts: Observations, memory: LifecycleState | None) -> Phase:
    """Say where the block is in its life.

    Args:
        facts: What was seen.
        memory: What is remembered. None when it could not be read.
    """
    reservation, window = facts.reservation, facts.window
    was_active = memory is not None and memory.instances > 0
    if reservation is None:
        over = memory is not None and memory.end is not None and memory.end <= facts.now
        return Phase.ENDED if over else Phase.UNKNOWN
    if window is None:
        return Phase.UNKNOWN
    if reservation.state in OVER:
        return Phase.ENDED
    if reservation.state in UPCOMING:
        # After it was active this is an old answer, or something that nobody foresaw; closing it could cost paid hours.
        return Phase.UNKNOWN if was_active else Phase.WAITING
    if reservation.state != ACTIVE:
        return Phase.UNKNOWN
    return Phase.OPEN if facts.now < window.drain_at else Phase.DRAINING


def decide(facts: Observations, memory: LifecycleState | None) -> tuple[Action, ...]:
    """Say what is to be done, the urgent first.

    Args:
        facts: What was seen.
        memory: What is remembered. None when it could not be read: people are told nothing then, because what they
            were told before is not known, and jobs are ended as late as possible.
    """
    phase = phase_of(facts, memory)
    return (
        *_set_environment(facts, phase),
        *_set_queue(facts, phase),
        *_tell_nodes(facts, phase),
        *_terminate_jobs(facts, phase, memory),
        *_notify(facts, phase, memory),
    )


def _set_environment(facts: Observations, phase: Phase) -> list[Action]:
    if phase is Phase.UNKNOWN or facts.environment_enabled is None:
        return []
    wanted = phase is Phase.OPEN
    return [] if facts.environment_enabled is wanted else [SetEnvironment(enabled=wanted)]


def _set_queue(facts: Observations, phase: Phase) -> list[Action]:
    # Every block of a queue decides by the same rule, so that two of them never pull in two directions.
    queue = facts.queue
    if phase is Phase.UNKNOWN or queue is None:
        return []
    if phase in (Phase.WAITING, Phase.OPEN):
        return [] if queue.enabled or queue.closed_by_budget else [SetQueue(enabled=True)]
    return [SetQueue(enabled=False)] if queue.enabled and queue.others_serve is False else []


def _tell_nodes(facts: Observations, phase: Phase) -> list[Action]:
    # At every wake-up again: it repeats nothing on a node that knows already, and reaches those that came later.
    window = facts.window
    if phase not in (Phase.OPEN, Phase.DRAINING) or window is None or facts.now < window.checkpoint_at:
        return []
    nodes = facts.nodes or frozenset()
    if phase is Phase.DRAINING and facts.jobs is not None:
        nodes &= frozenset(node for job in facts.jobs for node in job.nodes)
    return [RequestCheckpoint(nodes=nodes, before=window.terminates_at)] if nodes else []


def _terminate_jobs(facts: Observations, phase: Phase, memory: LifecycleState | None) -> list[Action]:
    window = facts.window
    if phase is not Phase.DRAINING or window is None or facts.nodes is None or facts.jobs is None:
        return []
    reason = (
        f"ultracluster: Capacity Block {facts.reservation_id} ends {_shown(window.end)}; "
        f"jobs on its nodes end at {_shown(window.drain_at)}"
    )
    told = memory.told if memory else {}
    grace = min(facts.checkpoint_lead, _GRACE)
    last_call = facts.now >= window.terminates_at - _LAST_CALL
    # Its payment can move the end until 35 minutes before it, which is before the last call.
    if facts.extension_pending and not last_call:
        return []
    return [
        TerminateJob(job_id=job.job_id, reason=reason)
        for job in facts.jobs
        if (own := job.nodes & facts.nodes)
        and (last_call or all(node in told and told[node] + grace <= facts.now for node in own))
    ]


def _notify(facts: Observations, phase: Phase, memory: LifecycleState | None) -> list[Action]:
    if memory is None:
        return []
    match phase:
        case Phase.OPEN:
            notice = _end_comes_near(facts, memory)
        case Phase.ENDED:
            notice = _ended(facts, memory)
        case Phase.UNKNOWN:
            notice = _not_understood(facts)
        case _:
            notice = None
    return [notice] if notice and not notice.notices <= memory.notices else []


def _end_comes_near(facts: Observations, memory: LifecycleState) -> Notify | None:
    window = facts.window
    if window is None:
        return None
    due = frozenset(
        f"T-{(window.end - at) // timedelta(hours=1)}h" for at in window.notices_at if at <= facts.now
    )
    if not due - memory.notices:
        return None
    return Notify(
        notices=due - memory.notices,
        subject=f"Capacity Block {facts.reservation_id} ends {_shown(window.end)}",
        text=(
            f"Jobs are told to write a checkpoint at {_shown(window.checkpoint_at)}, and are ended at "
            f"{_shown(window.drain_at)}; EC2 terminates the nodes from {_shown(window.terminates_at)}. "
            f"An extension can be bought until {_shown(window.extension_closes_at)}."
        ),
        with_extension=True,
    )


def _ended(facts: Observations, memory: LifecycleState) -> Notify:
    state = facts.reservation.state if facts.reservation else "no longer known to EC2"
    if memory.instances and memory.start and memory.end:
        figures = memory.report(state=state)
        return Notify(
            notices=frozenset({"report"}),
            subject=f"Capacity Block {facts.reservation_id} has ended: "
            f"{figures['used_node_hours']} of {figures['paid_node_hours']} node-hours used",
            text="Idle are hours in which no job ran on a node; unobserved are hours in which nobody could look.",
            report=figures,
        )
    return Notify(
        notices=frozenset({f"state {state}"}),
        subject=f"Capacity Block {facts.reservation_id} is over before it was used",
        text=f"Its reservation is {state}. Its compute environment is closed.",
    )


def _not_understood(facts: Observations) -> Notify:
    seen = facts.reservation
    if seen is None:
        problem = "EC2 knows no such reservation in this account and Region"
    elif not seen.is_block:
        problem = "it is a reservation, but not a Capacity Block"
    elif facts.window is None:
        problem = f"EC2 shows the start {seen.start} and the end {seen.end}"
    else:
        problem = f"its state is {seen.state}"
    return Notify(
        notices=frozenset({f"not understood: {problem}"}),
        subject=f"Capacity Block {facts.reservation_id} is not understood",
        text=f"The life cycle leaves the cluster as it is: {problem}. Look at the reservation id and at the block.",
    )


def live(
    facts: Observations,
    memory: LifecycleState | None,
    *,
    perform: Callable[[Action], None],
    save: Callable[[LifecycleState], None],
) -> tuple[Exception, ...]:
    """Do what is to be done. What fails stops nothing else; the next wake-up tries it again.

    Args:
        facts: What was seen.
        memory: What is remembered. None when it could not be read.
        perform: Does one action, or raises.
        save: Stores what is to be remembered, or raises.

    Returns:
        What went wrong.
    """
    errors: list[Exception] = []

    def attempt(work: Callable[[], None]) -> bool:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the other actions must still be done
            errors.append(error)
            return False
        return True

    before, memory = memory, _looked_at(facts, memory)
    notices: list[Notify] = []
    for action in decide(facts, memory):
        if isinstance(action, Notify):
            notices.append(action)
            continue
        done = attempt(partial(perform, action))
        if memory is not None and isinstance(action, RequestCheckpoint):
            partly = errors[-1] if not done else None
            told = action.nodes if done else partly.told if isinstance(partly, PartialDeliveryError) else frozenset()
            memory = memory.with_checkpoint_requests(told, facts.now, present=facts.nodes or frozenset())
    if memory is None or (memory == before and not notices):
        return tuple(errors)
    # Notices wait until the memory can be written: else each wake-up would send them again.
    if not attempt(partial(save, memory)):
        return tuple(errors)
    for notice in notices:
        if attempt(partial(perform, notice)):
            memory = memory.with_notices(notice.notices)
            attempt(partial(save, memory))
    return tuple(errors)


def _looked_at(facts: Observations, memory: LifecycleState | None) -> LifecycleState | None:
    window, seen = facts.window, facts.reservation
    if memory is None or window is None or seen is None:
        return memory
    active = seen.state == ACTIVE
    memory = memory.about(start=window.start, end=window.end, instances=seen.instances if active else 0)
    if not active or facts.nodes is None or facts.jobs is None:
        return memory
    busy = facts.nodes & frozenset(node for job in facts.jobs for node in job.nodes)
    return memory.sampled(facts.now, busy=len(busy))


def _shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"
