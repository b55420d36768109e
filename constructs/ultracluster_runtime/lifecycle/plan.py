"""Plan the actions of a life cycle run from what was observed. Pure: no AWS calls, no clock.

Every run observes everything and does what is missing, whatever invoked it. So lost, duplicate or late events are
harmless, an extension is picked up automatically, and two runs do no more than one.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

from ultracluster_catalog.observability.node_faults import REPLACEMENTS_PER_HOUR
from ultracluster_runtime.lifecycle.actions import (
    Action,
    DrainNode,
    Notify,
    PartialDeliveryError,
    ReplaceNode,
    RequestCheckpoint,
    SetEnvironment,
    SetFleet,
    SetProtection,
    SetQueue,
    TerminateJob,
)
from ultracluster_runtime.lifecycle.observations import (
    ACTIVE,
    CHANGING,
    ENDED,
    UPCOMING,
    Observations,
    Refusal,
    Sickness,
)
from ultracluster_runtime.lifecycle.state import OUTSIDE, REFUSED, REPLACED, SICK, LifecycleState

DRAIN_REASON = "ultracluster: Capacity Block "
"""Start of the reason with which jobs are terminated at the drain; the ID of the reservation follows."""

# EC2 terminates instances ten minutes after the drain begins. Jobs that got a late checkpoint request keep
# eight of them, and no job is left for EC2 to terminate.
_GRACE = timedelta(minutes=8)
_LAST_CALL = timedelta(minutes=2)

# EC2 posts the console of a node soon after its end; by then a node was launched, booted, refused and shut down.
_CONSOLE_WAIT = timedelta(minutes=20)

# A launch takes minutes (BOOT_TIME); a job that waits twice as long in hours that are paid for waits for something else.
_STARVED = timedelta(minutes=20)


# A new node takes ten minutes or more to join, and its job as long to load a checkpoint: later it is not worth its price.
_WORTH_REPLACING = timedelta(hours=1)
_ASK_EC2_AGAIN = timedelta(minutes=5)
_HOUR = timedelta(hours=1)
_UNSEEN = timedelta(minutes=2)  # after which every run sees a job that was placed before its node was drained


class Phase(StrEnum):
    """Phase of a block's life."""

    WAITING = "waiting"
    OPEN = "open"
    DRAINING = "draining"
    ENDED = "ended"
    UNKNOWN = "unknown"


def phase_of(observations: Observations, state: LifecycleState | None) -> Phase:
    """Return the phase of a block; `state` is None if it could not be read."""
    reservation, window = observations.reservation, observations.window
    was_active = state is not None and state.instances > 0
    if reservation is None:
        over = state is not None and state.end is not None and state.end <= observations.now
        return Phase.ENDED if over else Phase.UNKNOWN
    if window is None:
        return Phase.UNKNOWN
    if reservation.state in ENDED:
        return Phase.ENDED
    if reservation.state in UPCOMING:
        # A block that was active does not become pending again: a stale answer, or an unforeseen state. Closing it
        # could waste paid hours.
        return Phase.UNKNOWN if was_active else Phase.WAITING
    if reservation.state != ACTIVE:
        return Phase.UNKNOWN
    return Phase.OPEN if observations.now < window.drain_at else Phase.DRAINING


def plan_actions(observations: Observations, state: LifecycleState | None) -> tuple[Action, ...]:
    """Return the actions to perform, most urgent first.

    If the state could not be read, no notices are sent, because it is unknown which were sent before, and jobs are
    terminated as late as possible.
    """
    phase = phase_of(observations, state)
    terminations = _plan_terminations(observations, phase, state)
    return (
        *_plan_environment(observations, phase, state),
        *_plan_queue(observations, phase),
        *terminations,
        *_plan_fleet(observations, phase, state),
        *_plan_checkpoint_requests(observations, phase, state, ending={end.job_id for end in terminations}),
        *_plan_replacements(observations, phase, state),
        *_plan_notices(observations, phase, state),
    )


def _plan_environment(observations: Observations, phase: Phase, state: LifecycleState | None) -> list[Action]:
    environment = observations.environment
    # A change of an environment that is being modified is refused; the next run tries again.
    if phase is Phase.UNKNOWN or environment is None or environment.status in CHANGING:
        return []
    refusals = _refusals(observations, state)
    enabled = phase is Phase.OPEN
    if enabled and not observations.has_fleet and len(refusals) >= observations.max_refusals:
        if state is None:
            return []  # only the state knows whether a person has enabled it again
        enabled = False
    return [] if environment.enabled is enabled else [SetEnvironment(enabled=enabled)]


def _plan_queue(observations: Observations, phase: Phase) -> list[Action]:
    # Every block of a queue follows the same rule, so that two blocks never work against each other.
    queue = observations.queue
    if phase is Phase.UNKNOWN or queue is None or queue.status in CHANGING:
        return []
    if phase in (Phase.WAITING, Phase.OPEN):
        return [] if queue.enabled or queue.closed_by_budget else [SetQueue(enabled=True)]
    return [SetQueue(enabled=False)] if queue.enabled and queue.others_serve is False else []


def _plan_fleet(observations: Observations, phase: Phase, state: LifecycleState | None) -> list[Action]:
    fleet, reservation, nodes = observations.fleet, observations.reservation, observations.nodes
    if fleet is None or phase is Phase.UNKNOWN:
        return []
    if phase is not Phase.OPEN or reservation is None:
        # Protected nodes stay for the last words of their jobs: a desired capacity that falls ends no protected node.
        empty: list[Action] = [] if fleet.desired == 0 else [SetFleet(nodes=0)]
        released = fleet.protected & _idle_nodes(observations)
        return [*empty, SetProtection(nodes=released, protected=False)] if released else empty
    wanted = min(reservation.instances, fleet.most)
    if len(_refusals(observations, state)) >= observations.max_refusals:
        if nodes is None:
            return []
        wanted = min(wanted, len(nodes))  # no more replacements; those that run stay
    actions: list[Action] = [] if fleet.desired == wanted else [SetFleet(nodes=wanted)]
    if fleet.exposed:  # released at a drain that an extension took back
        actions.insert(0, SetProtection(nodes=fleet.exposed, protected=True))
    return actions


def _idle_nodes(observations: Observations) -> frozenset[str]:
    """Return the nodes of the block that certainly have no job any more."""
    # An open environment may place another job, and an extension may take the drain back.
    environment = observations.environment
    if (
        environment is None
        or environment.enabled
        or observations.jobs is None
        or observations.extension_pending is not False
    ):
        return frozenset()
    return (observations.nodes or frozenset()) - observations.busy


def _refusals(observations: Observations, state: LifecycleState | None) -> Collection[str]:
    return state.refusals if state else [refusal.node for refusal in observations.refusals or ()]


def _plan_checkpoint_requests(
    observations: Observations, phase: Phase, state: LifecycleState | None, *, ending: Collection[str]
) -> list[Action]:
    # Repeated in every run, because an accepted request may not arrive; nodes without one first.
    window = observations.window
    if phase not in (Phase.OPEN, Phase.DRAINING) or window is None or observations.now < window.checkpoint_at:
        return []
    nodes = observations.nodes or frozenset()
    if phase is Phase.DRAINING and observations.jobs is not None:
        nodes &= frozenset(
            node for job in observations.jobs if job.job_id not in ending for node in job.nodes
        )
    requested = nodes & frozenset(state.checkpoint_requests if state else ())
    return [
        RequestCheckpoint(nodes=part, before=window.terminates_at)
        for part in (nodes - requested, requested)
        if part
    ]


def _plan_terminations(
    observations: Observations, phase: Phase, state: LifecycleState | None
) -> list[TerminateJob]:
    window = observations.window
    if (
        phase is not Phase.DRAINING
        or window is None
        or observations.nodes is None
        or observations.jobs is None
    ):
        return []
    reason = (
        f"{DRAIN_REASON}{observations.reservation_id} ends {_format_time(window.end)}; "
        f"jobs on its nodes are terminated at {_format_time(window.drain_at)}"
    )
    requested = state.checkpoint_requests if state else {}
    grace = min(observations.checkpoint_lead, _GRACE)
    last_call = observations.now >= window.terminates_at - _LAST_CALL
    # A payment can move the end until 35 minutes before it, which is before the last call.
    if observations.extension_pending is not False and not last_call:
        return []
    return [
        TerminateJob(job_id=job.job_id, reason=reason, children=job.children)
        for job in observations.jobs
        if (own := job.nodes & observations.nodes)
        and (
            last_call
            or all(node in requested and requested[node] + grace <= observations.now for node in own)
        )
    ]


def _plan_replacements(
    observations: Observations, phase: Phase, state: LifecycleState | None
) -> list[Action]:
    """Drain sick nodes and replace those without a job that would be lost, the longest drained first."""
    if state is None or not _may_replace(observations, phase, state):
        return []
    now = observations.now
    # What was drained takes no jobs any more, also if its devices have come back.
    sick = (observations.nodes or frozenset()) & (observations.sick.keys() | state.drained.keys())
    waiting = sorted(sick - state.replaced.keys(), key=lambda node: (state.drained.get(node, now), node))
    actions: list[Action] = [DrainNode(node=node) for node in waiting if node not in state.drained]
    # The answer was lost, or EC2 is slow.
    late = [
        node for node in sorted(sick & state.replaced.keys()) if now - state.replaced[node] >= _ASK_EC2_AGAIN
    ]
    left = REPLACEMENTS_PER_HOUR - sum(now - at < _HOUR for at in state.replaced.values())
    ready = [node for node in waiting if _drained_long_enough(node, observations, state)]
    actions += _plan_last_words(ready, observations, state)
    free = [node for node in ready if _wrote_its_checkpoint(node, observations, state)]
    return [*actions, *(ReplaceNode(node=node) for node in [*late, *free[: max(0, left)]])]


def _may_replace(observations: Observations, phase: Phase, state: LifecycleState) -> bool:
    """Return whether another node would come for a sick one, in time to be worth it."""
    window, environment = observations.window, observations.environment
    return (
        observations.replaces_sick
        and phase is Phase.OPEN
        and observations.jobs is not None
        and (environment is not None and environment.enabled)
        and len(_refusals(observations, state)) < observations.max_refusals
        and (window is not None and window.checkpoint_at - observations.now >= _WORTH_REPLACING)
    )


def _drained_long_enough(node: str, observations: Observations, state: LifecycleState) -> bool:
    """Return whether no job can have started on a node unseen, and none runs there that would be lost."""
    at = state.drained.get(node)
    return at is not None and observations.now - at >= _UNSEEN and _waits_for(node, observations) is None


def _plan_last_words(
    nodes: Collection[str], observations: Observations, state: LifecycleState
) -> Iterator[RequestCheckpoint]:
    # Repeated in every run, because an accepted request may not arrive. After an error of memory it would be wrong.
    for node in nodes:
        sickness, mates = observations.sick.get(node), _mates(node, observations)
        if mates and not (sickness and sickness.in_memory):
            before = state.asked.get(node, observations.now) + _patience(observations)
            yield RequestCheckpoint(nodes=mates, before=before, sick=node)


def _wrote_its_checkpoint(node: str, observations: Observations, state: LifecycleState) -> bool:
    """Return whether no job on a node is writing a checkpoint that it was asked for."""
    if not _mates(node, observations):
        return True
    sickness, at = observations.sick.get(node), state.asked.get(node)
    if at is None:
        return sickness is not None and sickness.in_memory
    return observations.now >= at + _patience(observations)


def _patience(observations: Observations) -> timedelta:
    return max(observations.checkpoint_lead, _GRACE)


def _mates(node: str, observations: Observations) -> frozenset[str]:
    """Return the nodes of the block with a job that also runs on a node."""
    jobs = [job for job in observations.jobs or () if node in job.nodes]
    return (observations.nodes or frozenset()) & frozenset(mate for job in jobs for mate in job.nodes)


def _waits_for(node: str, observations: Observations) -> str | None:
    """Return the ID of a job on a node that would not be submitted again without it; None if there is none."""
    lost = (job.job_id for job in observations.jobs or () if node in job.nodes)
    return next((job for job in lost if job not in observations.resumed), None)


def _plan_notices(observations: Observations, phase: Phase, state: LifecycleState | None) -> list[Action]:
    if state is None:
        return []
    candidates: list[Notify | None] = []
    if phase in (Phase.WAITING, Phase.OPEN):
        candidates += [_invalid_notice(observations), *_refusal_notices(observations, state)]
    match phase:
        case Phase.OPEN:
            candidates += [_closed_notice(observations, state), _end_notice(observations, state)]
            candidates += [_starved_notice(observations, state), *_stray_notices(observations)]
            candidates += [*_sick_notices(observations), *_replaced_notices(state)]
        case Phase.ENDED:
            candidates.append(_end_report(observations, state))
        case Phase.UNKNOWN:
            candidates.append(_unrecognized_notice(observations))
        case _:
            pass
    return [notice for notice in candidates if notice and not notice.notices <= state.notices]


def _invalid_notice(observations: Observations) -> Notify | None:
    environment = observations.environment
    if environment is None or environment.status != "INVALID":
        return None
    return Notify(
        notices=frozenset({f"invalid: {environment.reason}"}),
        subject=f"Capacity Block {observations.reservation_id}: its compute environment is INVALID",
        text=(
            f"AWS Batch places no jobs in it and reports: {environment.reason or 'no reason'}. Correct the cause, then "
            "disable and enable the environment, so that AWS Batch checks it again; a deployment that changes nothing "
            "does not do that. `ultracluster jobs why JOB` prints the commands."
        ),
    )


def _refusal_notices(observations: Observations, state: LifecycleState) -> list[Notify]:
    return [
        Notify(
            notices=frozenset({f"{REFUSED}{refusal.node}"}),
            subject=f"Capacity Block {observations.reservation_id}: node {refusal.node} refused to join",
            text=_describe_refusal(refusal, observations, state),
        )
        for refusal in observations.refusals or ()
        if refusal.reason is not None or observations.now - refusal.launched >= _CONSOLE_WAIT
    ]


def _describe_refusal(refusal: Refusal, observations: Observations, state: LifecycleState) -> str:
    reason = refusal.reason or (
        f"its console does not say (aws ec2 get-console-output --instance-id {refusal.node} --output text)"
    )
    return (
        f"Launched {_format_time(refusal.launched)}: {reason}. It has shut itself down, and the reservation provides another "
        f"node. {len(state.refusals)} of {observations.max_refusals} refusals "
        + (
            "in an hour, after which none is replaced."
            if observations.has_fleet
            else "in a row that close the compute environment."
        )
    )


def _closed_notice(observations: Observations, state: LifecycleState) -> Notify | None:
    if len(state.refusals) < observations.max_refusals:
        return None
    nodes = ", ".join(sorted(state.refusals))
    if observations.has_fleet:
        return Notify(
            notices=frozenset({f"held: {nodes}"}),
            subject=f"Capacity Block {observations.reservation_id}: {len(state.refusals)} nodes refused to join within an hour",
            text=(
                f"{nodes} refused, so the Auto Scaling group starts no others until an hour after the first of them. Nodes that "
                "have joined go on with their jobs. Correct the image or the host; the notices before this one have the reasons."
            ),
        )
    return Notify(
        notices=frozenset({f"closed: {nodes}"}),
        subject=f"Capacity Block {observations.reservation_id} is closed: {len(state.refusals)} nodes refused to join",
        text=(
            f"{nodes} refused one after another, so the compute environment is disabled instead of launching more. Jobs keep "
            "their place, running ones go on. Correct the image or the host (the notices before this one have the reasons), "
            "then enable the environment (aws batch update-compute-environment --state ENABLED); the count starts anew."
        ),
    )


def _starved_notice(observations: Observations, state: LifecycleState) -> Notify | None:
    since = state.starved_since
    if since is None or observations.now - since < _STARVED or observations.waiting is None:
        return None
    return Notify(
        notices=frozenset({f"starved {_format_time(since)}"}),
        subject=f"Capacity Block {observations.reservation_id} is active, and jobs wait without a node",
        text=(
            f"Since {_format_time(since)} job {observations.waiting} waits, and no node runs in the block, which is paid for. "
            f"`ultracluster jobs why {observations.waiting}` names the cause."
        ),
    )


def _stray_notices(observations: Observations) -> list[Notify]:
    return [
        Notify(
            notices=frozenset({f"{OUTSIDE}{stray.node}"}),
            subject=f"Capacity Block {observations.reservation_id}: node {stray.node} does not run in it",
            text=(
                f"Node {stray.node} was launched for the block and runs "
                + (f"in {stray.reservation_id}" if stray.reservation_id else "in no reservation")
                + ", so that it is billed on top of the block. `ultracluster jobs list` shows the jobs, "
                f"`ultracluster nodes describe {stray.node}` the node, and `ultracluster nodes replace {stray.node}` ends it after a "
                "checkpoint."
            ),
        )
        for stray in observations.strays
    ]


def _sick_notices(observations: Observations) -> Iterator[Notify]:
    for node, sickness in observations.sick.items():
        yield Notify(
            notices=frozenset({f"{SICK}{node}"}),
            subject=f"Capacity Block {observations.reservation_id}: node {node} is sick",
            text=_describe_sickness(node, sickness, observations),
        )


def _describe_sickness(node: str, sickness: Sickness, observations: Observations) -> str:
    command = f"`ultracluster nodes replace {node}{' --now' if sickness.in_memory else ''}`"
    text = f"It reports: {sickness.reason}. "
    if sickness.in_memory:
        text += "Results since then can be wrong: go back to the checkpoint before it. "
    if not observations.replaces_sick:
        return f"{text}To replace it in the block: {command}."
    text += "No further job starts on it, and it is replaced in the block"
    job = _waits_for(node, observations)
    if job is not None:
        return f"{text} when job {job} has ended, which has no resume left. To replace it at once: {command}."
    return f"{text}, at most {REPLACEMENTS_PER_HOUR} nodes in an hour; a job on it is submitted again."


def _replaced_notices(state: LifecycleState) -> Iterator[Notify]:
    for node in state.replaced:
        yield Notify(
            notices=frozenset({f"{REPLACED}{node}"}),
            subject=f"Capacity Block {state.reservation_id}: sick node {node} is being replaced",
            text=(
                f"{node} was terminated. The block has room for another node some minutes after it has ended; it can be on the "
                "same host. If the fault returns, open a case with AWS Support."
            ),
        )


def _end_notice(observations: Observations, state: LifecycleState) -> Notify | None:
    window = observations.window
    if window is None:
        return None
    due = frozenset(
        f"T-{(window.end - at) // timedelta(hours=1)}h" for at in window.notices_at if at <= observations.now
    )
    if not due - state.notices:
        return None
    return Notify(
        notices=due - state.notices,
        subject=f"Capacity Block {observations.reservation_id} ends {_format_time(window.end)}",
        text=(
            f"Jobs are asked for a checkpoint at {_format_time(window.checkpoint_at)} and terminated at "
            f"{_format_time(window.drain_at)}; EC2 terminates the nodes from {_format_time(window.terminates_at)}. "
            f"An extension can be bought until {_format_time(window.extension_closes_at)}."
        ),
        with_extension=True,
    )


def _end_report(observations: Observations, state: LifecycleState) -> Notify:
    reservation_state = (
        observations.reservation.state if observations.reservation else "no longer known to EC2"
    )
    if state.instances and state.start and state.end:
        figures = state.report(state=reservation_state)
        return Notify(
            notices=frozenset({"report"}),
            subject=f"Capacity Block {observations.reservation_id} has ended: "
            f"{figures['used_node_hours']} of {figures['paid_node_hours']} node-hours used",
            text="Idle: node-hours without a job. Unobserved: node-hours in which the life cycle could not read AWS.",
            report=figures,
        )
    return Notify(
        notices=frozenset({f"state {reservation_state}"}),
        subject=f"Capacity Block {observations.reservation_id} ended before it was used",
        text=f"Its reservation is {reservation_state}.",
    )


def _unrecognized_notice(observations: Observations) -> Notify:
    reservation = observations.reservation
    if reservation is None:
        problem = "EC2 has no such reservation in this account and Region"
    elif not reservation.is_block:
        problem = "it is a reservation, but not a Capacity Block"
    elif observations.window is None:
        problem = f"EC2 reports start {reservation.start} and end {reservation.end}"
    else:
        problem = f"its state is {reservation.state}"
    return Notify(
        notices=frozenset({f"not understood: {problem}"}),
        subject=f"Capacity Block {observations.reservation_id} is in an unexpected state",
        text=f"The life cycle leaves the cluster unchanged: {problem}. Check the reservation ID and the block.",
    )


def run_cycle(
    observations: Observations,
    state: LifecycleState | None,
    *,
    perform: Callable[[Action], None],
    save: Callable[[LifecycleState], None],
) -> tuple[Exception, ...]:
    """Perform all due actions, save the new state and return the errors; the next run retries what failed.

    `state` is None if it could not be read. `perform` and `save` raise if they fail.
    """
    errors: list[Exception] = []

    def attempt(work: Callable[[], None]) -> bool:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - one failed action must not stop the others
            errors.append(error)
            return False
        return True

    before, state = state, _record_sample(observations, state)
    notices: list[Notify] = []
    for action in plan_actions(observations, state):
        if isinstance(action, Notify):
            notices.append(action)
            continue
        # What is limited is counted before the request, whatever becomes of it and of this invocation.
        counted = state and _count(action, state, observations)
        if counted and counted != state and not attempt(partial(save, counted)):
            continue
        done = attempt(partial(perform, action))
        state = counted and _record(action, counted, observations, None if done else errors[-1])
    if state is None or (state == before and not notices):
        return tuple(errors)
    # Notices wait until the state can be written; otherwise every run would send them again.
    if not attempt(partial(save, state)):
        return tuple(errors)
    for notice in notices:
        if attempt(partial(perform, notice)):
            state = state.with_notices(notice.notices)
            attempt(partial(save, state))
    return tuple(errors)


def _count(action: Action, state: LifecycleState, observations: Observations) -> LifecycleState:
    """Return the state with an action that is about to be performed."""
    present = observations.nodes or frozenset()
    match action:
        case ReplaceNode(node=node):
            return state.with_sick_nodes(observations.now, present=present, replaced=node)
        case RequestCheckpoint(sick=node) if node and node not in state.asked:
            return state.with_sick_nodes(observations.now, present=present, asked=node)
        case _:
            return state


def _record(
    action: Action, state: LifecycleState, observations: Observations, error: Exception | None
) -> LifecycleState:
    """Return the state with an action that was performed, or failed."""
    present = observations.nodes or frozenset()
    match action, error:
        case DrainNode(node=node), None:
            return state.with_sick_nodes(observations.now, present=present, drained=node)
        case RequestCheckpoint(sick=None, nodes=nodes), None:
            requested = nodes
        case RequestCheckpoint(sick=None), PartialDeliveryError(requested=nodes):
            requested = nodes
        case RequestCheckpoint(sick=None), _:
            requested = frozenset()
        case _:
            return state
    return state.with_checkpoint_requests(requested, observations.now, present=present)


def _record_sample(observations: Observations, state: LifecycleState | None) -> LifecycleState | None:
    window, reservation = observations.window, observations.reservation
    if state is None or window is None or reservation is None:
        return state
    active = reservation.state == ACTIVE
    state = state.with_block(
        start=window.start, end=window.end, instances=reservation.instances if active else 0
    )
    if not active or observations.nodes is None or observations.jobs is None:
        return state
    if observations.refusals is not None and observations.environment is not None:
        state = state.with_refusals(
            {refusal.node: refusal.launched for refusal in observations.refusals},
            joined_at=observations.joined_at,
            enabled=observations.environment.enabled,
            limit=observations.max_refusals,
            now=observations.now,
            hourly=observations.has_fleet,
        )
    environment = observations.environment
    starved = (
        phase_of(observations, state) is Phase.OPEN
        and environment is not None
        and environment.enabled
        and not observations.nodes
        and observations.waiting is not None
    )
    state = state.with_starvation(observations.now, starved=starved)
    return state.with_sample(observations.now, busy=len(observations.busy))


def _format_time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"
