"""Scenarios of blocks on a queue, with and without faults. Each raises a `Violation` where the life cycle fails."""

import itertools
import random
from collections.abc import Callable, Container, Hashable, Sequence
from datetime import timedelta

import pytest
from _pytest.mark import ParameterSet
from tests.unit.runtime.lifecycle.lifecycle_simulation import (
    NO_FAULTS,
    NODES,
    Block,
    Faults,
    Simulation,
    Violation,
    reports,
)

from ultracluster_runtime.lifecycle.actions import Notify, SetEnvironment, SetQueue

Invocations = Callable[[int, Block], list[Faults]]

KINDS = {
    "lost": [],
    "doubled": [NO_FAULTS, NO_FAULTS],
    "crash at 0": [Faults(crash=0)],
    "crash at 1": [Faults(crash=1)],
    "crash at 2": [Faults(crash=2)],
    "all fail": [Faults(before=frozenset(range(9)))],
    "all answers lost": [Faults(after=frozenset(range(9)))],
    "first fails": [Faults(before=frozenset({0}))],
    "no jobs seen": [Faults(blind=frozenset({"jobs"}))],
    "no nodes seen": [Faults(blind=frozenset({"nodes"}))],
    "no environment seen": [Faults(blind=frozenset({"environment"}))],
    "no queue seen": [Faults(blind=frozenset({"queue"}))],
    "no reservation seen": [Faults(blind=frozenset({"reservation"}))],
    "others not seen": [Faults(others_unseen=True)],
    "no memory": [Faults(no_state=True)],
    "not saved": [Faults(no_save=True)],
    "stale": [Faults(stale=2)],
}
SKEWS = (timedelta(seconds=-60), timedelta(0), timedelta(seconds=60))


def _clean(_minute: int, _block: Block) -> list[Faults]:
    return [NO_FAULTS]


def run(
    simulation: Simulation,
    invocations: Invocations = _clean,
    *,
    begin: int,
    until: int,
    visited: set[Hashable] | None = None,
) -> None:
    """Live minute by minute. Where a state of `visited` is met, the rest has been lived; states that are new join them."""
    simulation.minute = begin
    while simulation.minute < until:
        if visited is not None:
            if (state := simulation.state) in visited:
                return
            visited.add(state)
        if simulation.minute % 3 == 0:
            simulation.submit()
        for block in simulation.blocks:
            for faults in invocations(simulation.minute, block):
                block.invoke(simulation, faults)
        simulation.pass_minute()


def undisturbed() -> Simulation:
    """From before the start until after the report, 26 hours, without any fault."""
    simulation = Simulation(Block(name="a", start=20, end=1580), tolerance=1, seed=1)
    run(simulation, begin=0, until=1600)
    check_no_job_left_to_ec2(simulation)
    early = [
        job for job, how in simulation.ended.items() if how == "terminated" and simulation.started[job] < 1515
    ]
    if not early or any(simulation.warnings[job] < 20 for job in early):
        raise Violation(f"minutes between the word and the end: {simulation.warnings}")
    (block,) = simulation.blocks
    simulation.check_notices(block, {"T-24h": 1, "T-2h": 1, "report": 1}, extra=0)
    (report,) = reports(block)
    if abs(report["used_node_hours"] - block.busy_minutes / 60) > 0.02 * report["paid_node_hours"]:
        raise Violation(f"used {block.busy_minutes / 60} node-hours, reported {report}")
    if report["unobserved_node_hours"] > 0.2:
        raise Violation(f"what was seen is reported as not seen: {report}")
    return simulation


def ultraserver() -> None:
    """An UltraServer is drained half an hour earlier."""
    simulation = Simulation(Block(name="u", start=20, end=260, ultraserver=True), tolerance=1)
    run(simulation, begin=0, until=280)
    check_no_job_left_to_ec2(simulation)


def extensions() -> None:
    """An extension is bought at any minute around the drain, and paid up to 25 minutes later."""
    for skew, bought, delay in itertools.product(SKEWS[::2], (100, 130, 158, 160, 179), (0, 1, 15, 24)):
        # AWS takes a payment until 35 minutes before the end, else the old end stands.
        paid = bought + delay
        if paid > 240 - 35:
            continue
        block = Block(name="a", start=0, end=240, skew=skew, extensions={bought: (paid, 420)})
        simulation = Simulation(block, tolerance=3)
        survivors = 0
        simulation.minute = 90
        while simulation.minute < 440:
            simulation.submit()
            block.invoke(simulation, NO_FAULTS)
            simulation.pass_minute()
            if simulation.minute == paid:
                survivors = sum(how == "terminated" for how in simulation.ended.values())
        if survivors:
            raise Violation(f"{survivors} jobs were ended although their block was extended (paid in {paid})")
        simulation.check_notices(block, {"T-2h": 1 if paid <= 120 else 2, "report": 1}, extra=0)


def released_blocks() -> None:
    """A block fails, is cancelled, or is forgotten by EC2, before, during or after its time."""
    for minute, state in itertools.product((5, 30, 150, 205), ("payment-failed", "cancelled", "failed")):
        block = Block(name="a", start=20, end=240, over_from=(minute, state))
        simulation = Simulation(block, tolerance=1)
        run(simulation, begin=0, until=260)
        name = f"state {state}" if minute < 20 else "report"
        simulation.check_notices(block, {name: 1}, extra=1)
        if block.enabled or simulation.queue_enabled:
            raise Violation(f"{state} in {minute}: something is still open")
    forgotten = Block(name="a", start=20, end=240, known_until=243)
    simulation = Simulation(forgotten, tolerance=1)
    run(simulation, _lost(range(238, 250)), begin=0, until=260)
    simulation.check_notices(forgotten, {"T-2h": 1, "report": 1}, extra=0)


def unexpected_states() -> None:
    """What nobody foresaw changes nothing, and is told to people once."""
    for minute, state in itertools.product((30, 150), ("unavailable", "something new", "payment-pending")):
        block = Block(name="a", start=20, end=240, over_from=(minute, state))
        simulation = Simulation(block, tolerance=10_000)
        run(simulation, begin=0, until=minute)
        before = (block.enabled, simulation.queue_enabled, len(block.notices))
        run(simulation, begin=minute, until=minute + 30)
        if (block.enabled, simulation.queue_enabled) != before[:2]:
            raise Violation(f"{state}: the cluster was changed without understanding")
        if len(block.notices) != before[2] + 1:
            raise Violation(f"{state}: people were told {len(block.notices) - before[2]} times")


def adjacent_blocks() -> None:
    """Two blocks on one queue, overlapping, touching or apart, with and without on-demand nodes beside them."""
    for second, on_demand, skew in itertools.product((150, 200, 240, 300), (False, True), SKEWS):
        blocks = (
            Block(name="a", start=20, end=240, skew=skew),
            Block(name="b", start=second, end=second + 120, skew=-skew, ultraserver=second == 300),
        )
        simulation = Simulation(*blocks, on_demand=on_demand, tolerance=2)
        run(simulation, begin=0, until=second + 130)
        if simulation.queue_enabled is not on_demand:
            raise Violation("the queue is left in the wrong state")
        for block in blocks:
            simulation.check_notices(block, {"report": 1}, extra=1)


def single_faults() -> None:
    """Every kind of fault at every wake-up around the start, the signal and the drain, under either skew."""
    minutes = (*range(18, 24), *range(178, 184), *range(196, 212))
    for skew, struck in itertools.product(SKEWS[::2], minutes):
        begin, until = (17, 30) if struck < 30 else (172, 222)
        block = Block(name="a", start=20, end=240, skew=skew)
        simulation = Simulation(block, tolerance=4, seed=struck)
        run(simulation, begin=begin, until=struck)
        after: set[Hashable] = set()
        for name, kind in {"nothing": [NO_FAULTS], **KINDS}.items():
            unlucky = simulation.copy()
            try:
                run(unlucky, _always(kind), begin=struck, until=struck + 1)
                run(unlucky, begin=struck + 1, until=until, visited=after)
            except Violation as violation:
                raise Violation(f"{name} at {struck}, skew {skew}: {violation}") from violation


def without_state() -> None:
    """The memory can never be read, or never be written: jobs are looked after all the same, people hear nothing."""
    for faults in (Faults(no_state=True), Faults(no_save=True)):
        block = Block(name="a", start=20, end=240)
        simulation = Simulation(block, tolerance=1)
        run(simulation, _always([faults]), begin=0, until=260)
        check_no_job_left_to_ec2(simulation)
        simulation.check_notices(block, {}, extra=0)


def one_action_never_works() -> None:
    """A permission is missing: everything else is done all the same."""
    for action in (SetEnvironment, SetQueue, Notify):
        block = Block(name="a", start=20, end=240, enabled=True)
        simulation = Simulation(block, tolerance=10_000, never_works=action)
        run(simulation, begin=0, until=260)
        check_no_job_left_to_ec2(simulation)
        if action is not SetEnvironment and block.enabled:
            raise Violation(f"the environment is open though only {action.__name__} fails")
        if action is not SetQueue and simulation.queue_enabled and not block.enabled:
            raise Violation(f"the queue is open though only {action.__name__} fails")
        simulation.check_notices(block, {} if action is Notify else {"T-2h": 1, "report": 1}, extra=0)


def check_no_job_left_to_ec2(simulation: Simulation) -> None:
    """Jobs were ended by the life cycle, with a reason, and there were such jobs."""
    ends = list(simulation.ended.values())
    if "killed" in ends or "terminated" not in ends:
        raise Violation(f"jobs ended as {sorted(set(ends))}")


def _always(kind: list[Faults]) -> Invocations:
    return lambda _minute, _block: kind


def _lost(minutes: Container[int]) -> Invocations:
    return lambda minute, _: [] if minute in minutes else [NO_FAULTS]


def outages() -> None:
    """Nothing runs for a while: every outage that begins before the drain and leaves three minutes before EC2 acts."""
    for first, last in itertools.product(range(175, 196, 5), range(196, 208)):
        block = Block(name="a", start=20, end=240)
        simulation = Simulation(block, tolerance=last - first + 2, seed=first)
        run(simulation, _lost(range(first, last)), begin=150, until=250)
        check_no_job_left_to_ec2(simulation)
        # Who is told late gets eight minutes for a checkpoint, or what is left of them.
        for job, how in simulation.ended.items():
            if (
                how == "terminated"
                and simulation.started[job] < first
                and simulation.warnings[job] < min(8, 208 - last)
            ):
                raise Violation(f"{job} had {simulation.warnings[job]} minutes after an outage until {last}")
        (report,) = reports(block)
        if report["unobserved_node_hours"] < NODES * (150 - 20) / 60 - 0.1:
            raise Violation(f"what nobody saw is reported as seen: {report}")


def every_pattern_of_losses() -> None:
    """Each of the eight wake-ups around the drain is lost or not: all 256 patterns."""
    for pattern in range(256):
        missing = {196 + bit for bit in range(8) if pattern >> bit & 1}
        simulation = Simulation(Block(name="a", start=20, end=240), tolerance=10, seed=pattern)
        run(
            simulation,
            _lost(missing),
            begin=172,
            until=225,
        )


def random_scenario(seed: int) -> None:
    """Anything, at any time; only every fifth wake-up at the latest is undisturbed."""
    chance = random.Random(seed)  # noqa: S311 - chance that can be repeated
    blocks = []
    for name in "ab"[: chance.choice((1, 1, 2))]:
        start = chance.randrange(10, 200)
        end = start + chance.randrange(120, 240)
        extensions = {}
        if chance.random() < 0.4:
            bought = end - chance.randrange(62, 110)
            extensions[bought] = (
                min(bought + chance.randrange(25), end - 36),
                end + chance.randrange(60, 180),
            )
        blocks.append(
            Block(
                name=name,
                start=start,
                end=end,
                skew=timedelta(seconds=chance.randrange(-60, 61)),
                ultraserver=not extensions and chance.random() < 0.3,
                extensions=extensions,
            )
        )
    # Four disturbed wake-ups, a minute of skew on either side, and what EC2 shows three minutes too late.
    simulation = Simulation(*blocks, on_demand=chance.random() < 0.3, tolerance=9, seed=seed)
    disturbed = dict.fromkeys((block.name for block in blocks), 0)
    faults = 0

    def invocations(_minute: int, block: Block) -> list[Faults]:
        nonlocal faults
        if disturbed[block.name] >= 4 or chance.random() < 0.5:
            disturbed[block.name] = 0
            return [NO_FAULTS] * chance.choice((1, 1, 1, 2))
        disturbed[block.name] += 1
        faults += 1
        return [*chance.choice(list(KINDS.values()))]

    last = max(block.end_at(10_000) for block in blocks)
    run(simulation, invocations, begin=0, until=last + 20)
    for block in blocks:
        simulation.check_notices(block, {"report": 1}, extra=faults + 6)
        if block.enabled:
            raise Violation(f"{block.name} is open after its end")
        (*_, report) = reports(block)
        total = sum(report[f"{part}_node_hours"] for part in ("used", "idle", "unobserved"))
        if abs(total - report["paid_node_hours"]) > 0.05 or min(report["used_node_hours"], total) < 0:
            raise Violation(f"the parts are not the whole: {report}")


def random_scenarios() -> None:
    """Some random lives, the same at each run."""
    for seed in range(60):
        try:
            random_scenario(seed)
        except Violation as violation:
            raise Violation(f"seed {seed}: {violation}") from violation


def environment_is_modified() -> None:
    """A deployment changes the environment around the start or the drain: it is left alone, and no job is lost by it."""
    for first, minutes in itertools.product((15, 19, 190, 195, 199), (1, 3, 6)):
        block = Block(name="a", start=20, end=240, modified=range(first, first + minutes))
        simulation = Simulation(block, tolerance=minutes + 1, seed=first)
        run(simulation, begin=0, until=260)
        check_no_job_left_to_ec2(simulation)
        if block.enabled:
            raise Violation("the environment is open after its end")


def refusing_nodes() -> None:
    """Nodes refuse to join: a few are replaced, many close the block, and people hear of each one once."""
    for minutes in (1, 2, 3, 60):
        block = Block(name="a", start=20, end=240, refusing=range(20, 20 + minutes))
        simulation = Simulation(block, tolerance=1, seed=minutes)
        run(simulation, begin=0, until=300)
        refused = len(block.refused)
        if refused > 4:
            raise Violation(f"{refused} nodes were launched one after another although all refuse")
        told = [name for notice in block.notices for name in notice.notices if name.startswith("refused")]
        if sorted(told) != sorted(f"refused {node}" for node in block.refused):
            raise Violation(f"{refused} nodes refused, people heard of {told}")
        closings = [notice for notice in block.notices if "is closed" in notice.subject]
        if len(closings) != (refused >= 3):
            raise Violation(f"{refused} refusals, {len(closings)} closings")


ALL_SCENARIOS: tuple[Callable[[], object], ...] = (
    undisturbed,
    ultraserver,
    without_state,
    one_action_never_works,
    released_blocks,
    environment_is_modified,
    refusing_nodes,
    unexpected_states,
    outages,
    adjacent_blocks,
    every_pattern_of_losses,
    extensions,
    random_scenarios,
    single_faults,
)
"""Every kind of life, the short ones first."""


def with_sweeps(scenarios: Sequence[Callable[[], object]]) -> list[ParameterSet]:
    """Return scenarios as parameters, of which `make check-deep` alone tries those with hundreds of lives."""
    sweeps = {adjacent_blocks, every_pattern_of_losses, random_scenarios}
    return [
        pytest.param(each, id=each.__name__, marks=pytest.mark.deep if each in sweeps else ())
        for each in scenarios
    ]
