"""Lives of blocks on a queue, from undisturbed to unlucky. Each raises a `Violation` where the life cycle fails."""

import itertools
import random
from collections.abc import Callable, Container, Hashable
from datetime import timedelta

from tests.unit.runtime.lifecycle.lifecycle_simulation import (
    CLEAN,
    NODES,
    Block,
    Faults,
    Live,
    Violation,
    World,
    reports,
)

from ultracluster_runtime.lifecycle.actions import Notify, SetEnvironment, SetQueue

__all__ = ["ALL_LIVES", "KINDS", "random_life", "undisturbed"]

Wakes = Callable[[int, Block], list[Faults]]

KINDS = {
    "lost": [],
    "doubled": [CLEAN, CLEAN],
    "crash at 0": [Faults(crash=0)],
    "crash at 1": [Faults(crash=1)],
    "crash at 2": [Faults(crash=2)],
    "all fail": [Faults(before=frozenset(range(9)))],
    "all answers lost": [Faults(after=frozenset(range(9)))],
    "first fails": [Faults(before=frozenset({0}))],
    "no jobs seen": [Faults(blind=frozenset({"jobs"}))],
    "no nodes seen": [Faults(blind=frozenset({"nodes"}))],
    "no environment seen": [Faults(blind=frozenset({"environment_enabled"}))],
    "no queue seen": [Faults(blind=frozenset({"queue"}))],
    "no reservation seen": [Faults(blind=frozenset({"reservation"}))],
    "others not seen": [Faults(others_unseen=True)],
    "no memory": [Faults(no_memory=True)],
    "not saved": [Faults(no_save=True)],
    "stale": [Faults(stale=2)],
}
SKEWS = (timedelta(seconds=-60), timedelta(0), timedelta(seconds=60))


def _clean(_minute: int, _block: Block) -> list[Faults]:
    return [CLEAN]


def run(
    world: World, wakes: Wakes = _clean, *, begin: int, until: int, lived: set[Hashable] | None = None
) -> None:
    """Live minute by minute. Where a state of `lived` is met, the rest has been lived; states that are new join them."""
    world.minute = begin
    while world.minute < until:
        if lived is not None:
            if (state := world.state) in lived:
                return
            lived.add(state)
        if world.minute % 3 == 0:
            world.submit()
        for block in world.blocks:
            for faults in wakes(world.minute, block):
                block.wake(world, faults)
        world.pass_minute()


def undisturbed(live: Live | None = None) -> World:
    """From before the start until after the report, 26 hours, without any fault."""
    world = World(Block(name="a", start=20, end=1580), live=live, tolerance=1, seed=1)
    run(world, begin=0, until=1600)
    nobody_is_left_to_ec2(world)
    early = [job for job, how in world.ended.items() if how == "terminated" and world.started[job] < 1515]
    if not early or any(world.warnings[job] < 20 for job in early):
        raise Violation(f"minutes between the word and the end: {world.warnings}")
    (block,) = world.blocks
    world.check_notices(block, {"T-24h": 1, "T-2h": 1, "report": 1}, extra=0)
    (report,) = reports(block)
    if abs(report["used_node_hours"] - block.busy_minutes / 60) > 0.02 * report["paid_node_hours"]:
        raise Violation(f"used {block.busy_minutes / 60} node-hours, reported {report}")
    if report["unobserved_node_hours"] > 0.2:
        raise Violation(f"what was seen is reported as not seen: {report}")
    return world


def ultraserver(live: Live | None = None) -> None:
    """An UltraServer is drained half an hour earlier."""
    world = World(Block(name="u", start=20, end=260, ultraserver=True), live=live, tolerance=1)
    run(world, begin=0, until=280)
    nobody_is_left_to_ec2(world)


def extensions(live: Live | None = None) -> None:
    """An extension is bought at any minute around the drain, and paid up to 25 minutes later."""
    for skew, bought, delay in itertools.product(SKEWS[::2], (100, 130, 158, 160, 179), (0, 1, 15, 24)):
        # AWS takes a payment until 35 minutes before the end, else the old end stands.
        paid = bought + delay
        if paid > 240 - 35:
            continue
        block = Block(name="a", start=0, end=240, skew=skew, extensions={bought: (paid, 420)})
        world = World(block, live=live, tolerance=3)
        survivors = 0
        world.minute = 90
        while world.minute < 440:
            world.submit()
            block.wake(world, CLEAN)
            world.pass_minute()
            if world.minute == paid:
                survivors = sum(how == "terminated" for how in world.ended.values())
        if survivors:
            raise Violation(f"{survivors} jobs were ended although their block was extended (paid in {paid})")
        world.check_notices(block, {"T-2h": 1 if paid <= 120 else 2, "report": 1}, extra=0)


def released_blocks(live: Live | None = None) -> None:
    """A block fails, is cancelled, or is forgotten by EC2, before, during or after its time."""
    for minute, state in itertools.product((5, 30, 150, 205), ("payment-failed", "cancelled", "failed")):
        block = Block(name="a", start=20, end=240, over_from=(minute, state))
        world = World(block, live=live, tolerance=1)
        run(world, begin=0, until=260)
        name = f"state {state}" if minute < 20 else "report"
        world.check_notices(block, {name: 1}, extra=1)
        if block.enabled or world.queue_enabled:
            raise Violation(f"{state} in {minute}: something is still open")
    forgotten = Block(name="a", start=20, end=240, known_until=243)
    world = World(forgotten, live=live, tolerance=1)
    run(world, _lost(range(238, 250)), begin=0, until=260)
    world.check_notices(forgotten, {"T-2h": 1, "report": 1}, extra=0)


def odd_states(live: Live | None = None) -> None:
    """What nobody foresaw changes nothing, and is told to people once."""
    for minute, state in itertools.product((30, 150), ("unavailable", "something new", "payment-pending")):
        block = Block(name="a", start=20, end=240, over_from=(minute, state))
        world = World(block, live=live, tolerance=10_000)
        run(world, begin=0, until=minute)
        before = (block.enabled, world.queue_enabled, len(block.notices))
        run(world, begin=minute, until=minute + 30)
        if (block.enabled, world.queue_enabled) != before[:2]:
            raise Violation(f"{state}: the cluster was changed without understanding")
        if len(block.notices) != before[2] + 1:
            raise Violation(f"{state}: people were told {len(block.notices) - before[2]} times")


def neighbours(live: Live | None = None) -> None:
    """Two blocks on one queue, overlapping, touching or apart, with and without on-demand nodes beside them."""
    for second, on_demand, skew in itertools.product((150, 200, 240, 300), (False, True), SKEWS):
        blocks = (
            Block(name="a", start=20, end=240, skew=skew),
            Block(name="b", start=second, end=second + 120, skew=-skew, ultraserver=second == 300),
        )
        world = World(*blocks, on_demand=on_demand, live=live, tolerance=2)
        run(world, begin=0, until=second + 130)
        if world.queue_enabled is not on_demand:
            raise Violation("the queue is left in the wrong state")
        for block in blocks:
            world.check_notices(block, {"report": 1}, extra=1)


def single_faults(live: Live | None = None) -> None:
    """Every kind of fault at every wake-up around the start, the signal and the drain, under either skew."""
    minutes = (*range(18, 24), *range(178, 184), *range(196, 212))
    for skew, struck in itertools.product(SKEWS[::2], minutes):
        begin, until = (17, 30) if struck < 30 else (172, 222)
        block = Block(name="a", start=20, end=240, skew=skew)
        world = World(block, live=live, tolerance=4, seed=struck)
        run(world, begin=begin, until=struck)
        after: set[Hashable] = set()
        for name, kind in {"nothing": [CLEAN], **KINDS}.items():
            unlucky = world.copy()
            try:
                run(unlucky, _always(kind), begin=struck, until=struck + 1)
                run(unlucky, begin=struck + 1, until=until, lived=after)
            except Violation as violation:
                raise Violation(f"{name} at {struck}, skew {skew}: {violation}") from violation


def without_memory(live: Live | None = None) -> None:
    """The memory can never be read, or never be written: jobs are looked after all the same, people hear nothing."""
    for faults in (Faults(no_memory=True), Faults(no_save=True)):
        block = Block(name="a", start=20, end=240)
        world = World(block, live=live, tolerance=1)
        run(world, _always([faults]), begin=0, until=260)
        nobody_is_left_to_ec2(world)
        world.check_notices(block, {}, extra=0)


def one_action_never_works(live: Live | None = None) -> None:
    """A permission is missing: everything else is done all the same."""
    for action in (SetEnvironment, SetQueue, Notify):
        block = Block(name="a", start=20, end=240, enabled=True)
        world = World(block, live=live, tolerance=10_000, never_works=action)
        run(world, begin=0, until=260)
        nobody_is_left_to_ec2(world)
        if action is not SetEnvironment and block.enabled:
            raise Violation(f"the environment is open though only {action.__name__} fails")
        if action is not SetQueue and world.queue_enabled and not block.enabled:
            raise Violation(f"the queue is open though only {action.__name__} fails")
        world.check_notices(block, {} if action is Notify else {"T-2h": 1, "report": 1}, extra=0)


def nobody_is_left_to_ec2(world: World) -> None:
    """Jobs were ended by the life cycle, with a reason, and there were such jobs."""
    ends = list(world.ended.values())
    if "killed" in ends or "terminated" not in ends:
        raise Violation(f"jobs ended as {sorted(set(ends))}")


def _always(kind: list[Faults]) -> Wakes:
    return lambda _minute, _block: kind


def _lost(minutes: Container[int]) -> Wakes:
    return lambda minute, _: [] if minute in minutes else [CLEAN]


def outages(live: Live | None = None) -> None:
    """Nothing runs for a while: every outage that begins before the drain and leaves three minutes before EC2 acts."""
    for first, last in itertools.product(range(175, 196, 5), range(196, 208)):
        block = Block(name="a", start=20, end=240)
        world = World(block, live=live, tolerance=last - first + 2, seed=first)
        run(world, _lost(range(first, last)), begin=150, until=250)
        nobody_is_left_to_ec2(world)
        # Who is told late gets eight minutes for a checkpoint, or what is left of them.
        for job, how in world.ended.items():
            if (
                how == "terminated"
                and world.started[job] < first
                and world.warnings[job] < min(8, 208 - last)
            ):
                raise Violation(f"{job} had {world.warnings[job]} minutes after an outage until {last}")
        (report,) = reports(block)
        if report["unobserved_node_hours"] < NODES * (150 - 20) / 60 - 0.1:
            raise Violation(f"what nobody saw is reported as seen: {report}")


def every_pattern_of_losses(live: Live | None = None) -> None:
    """Each of the eight wake-ups around the drain is lost or not: all 256 patterns."""
    for pattern in range(256):
        missing = {196 + bit for bit in range(8) if pattern >> bit & 1}
        world = World(Block(name="a", start=20, end=240), live=live, tolerance=10, seed=pattern)
        run(
            world,
            _lost(missing),
            begin=172,
            until=225,
        )


def random_life(seed: int, live: Live | None = None) -> None:
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
    world = World(*blocks, on_demand=chance.random() < 0.3, live=live, tolerance=9, seed=seed)
    disturbed = dict.fromkeys((block.name for block in blocks), 0)
    faults = 0

    def wakes(_minute: int, block: Block) -> list[Faults]:
        nonlocal faults
        if disturbed[block.name] >= 4 or chance.random() < 0.5:
            disturbed[block.name] = 0
            return [CLEAN] * chance.choice((1, 1, 1, 2))
        disturbed[block.name] += 1
        faults += 1
        return [*chance.choice(list(KINDS.values()))]

    last = max(block.end_at(10_000) for block in blocks)
    run(world, wakes, begin=0, until=last + 20)
    for block in blocks:
        world.check_notices(block, {"report": 1}, extra=faults + 6)
        if block.enabled:
            raise Violation(f"{block.name} is open after its end")
        (*_, report) = reports(block)
        total = sum(report[f"{part}_node_hours"] for part in ("used", "idle", "unobserved"))
        if abs(total - report["paid_node_hours"]) > 0.05 or min(report["used_node_hours"], total) < 0:
            raise Violation(f"the parts are not the whole: {report}")


def random_lives(live: Live | None = None) -> None:
    """Some random lives, the same at each run."""
    for seed in range(60):
        try:
            random_life(seed, live)
        except Violation as violation:
            raise Violation(f"seed {seed}: {violation}") from violation


ALL_LIVES: tuple[Callable[[Live | None], object], ...] = (
    undisturbed,
    ultraserver,
    without_memory,
    one_action_never_works,
    released_blocks,
    odd_states,
    outages,
    neighbours,
    every_pattern_of_losses,
    extensions,
    random_lives,
    single_faults,
)
"""Every kind of life, the short ones first."""
