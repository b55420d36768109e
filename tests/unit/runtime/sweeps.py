"""Running the purchase protocol through every fault, every schedule and many random lives, in the simulated world."""

import itertools
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from tests.unit.runtime.faults import faults_of
from tests.unit.runtime.invariants import Violation, check, check_settled
from tests.unit.runtime.simulator import World
from tests.unit.runtime.special_lives import special_lives
from tests.unit.runtime.worlds import (
    SCENARIOS,
    reconcile_all,
    start,
    two_extensions_of_one_block,
    two_orders_of_one_cluster,
    two_orders_over_the_month,
)

from ultracluster_runtime.effects import Advance, Send


def live(world: World) -> int:
    """One life of the orders: buy, try again soon, try again later, reconcile; and buy once more in the end.

    Returns:
        How many calls there were in which a fault could strike.
    """
    names = sorted(world.records)
    for turn, pause in enumerate((timedelta(minutes=5), timedelta(minutes=40))):
        for name in names:
            start(world, name, f"nonce-{turn}").run()
            check(world)
        world.pass_time(pause)
    reach = len(world.calls)
    reconcile_all(world)
    check_settled(world)
    for name in names:
        if world.sends.get(name):
            start(world, name, "nonce-again").run()
    reconcile_all(world)
    check_settled(world)
    return reach


def _faults_in(make: Callable[[], World], faults: dict[int, str]) -> Iterator[dict[int, str]]:
    """Every way of adding one later fault to a life with these faults."""
    world = make()
    world.faults = dict(faults)
    reach = live(world)
    first = max(faults, default=-1) + 1
    for number in range(first, reach):
        for fault in faults_of(world.calls[number]):
            yield {**faults, number: fault}


def sweep_single_faults(make: Callable[[], World]) -> int:
    """Every fault at every call.

    Returns:
        The number of lives.
    """
    lives = 0
    for faults in _faults_in(make, {}):
        _live_with(make, faults)
        lives += 1
    return lives


def sweep_pairs_of_faults(make: Callable[[], World]) -> int:
    """Every pair of faults.

    Returns:
        The number of lives.
    """
    lives = 0
    for first in _faults_in(make, {}):
        for faults in _faults_in(make, first):
            _live_with(make, faults)
            lives += 1
    return lives


def _live_with(make: Callable[[], World], faults: dict[int, str]) -> None:
    world = make()
    world.faults = dict(faults)
    try:
        live(world)
    except Violation as violation:
        raise Violation(f"{violation} (faults {faults})") from None


def _run_schedule(
    world: World, names: tuple[str, str], cuts: tuple[int, int], pause: timedelta
) -> tuple[int, int]:
    """The first process runs `cuts[0]` steps, the second `cuts[1]`, the first to its end, the second to its end.

    Returns:
        How many steps each took before the end.
    """
    processes = [start(world, name, f"nonce-{number}") for number, name in enumerate(names)]
    steps = [0, 0]
    for process, limit in ((0, cuts[0]), (1, cuts[1]), (0, 10**6), (1, 10**6)):
        for _ in range(limit):
            if not processes[process].step():
                break
            steps[process] += 1
        check(world)
        if limit < 10**6:
            world.pass_time(pause)
    reconcile_all(world)
    check_settled(world)
    return steps[0], steps[1]


PAUSES = (timedelta(seconds=1), timedelta(seconds=45), timedelta(minutes=31))
"""What a pre-empted process may miss: nothing, a little, and the time after which others give it up."""


def sweep_schedules(make: Callable[[], World], names: tuple[str, str]) -> int:
    """Two buyers with up to two pre-emptions, each at every step, for every pause.

    Returns:
        The number of schedules.
    """
    schedules = 0
    for pause in PAUSES:
        for cuts in _every_cut(make, names):
            try:
                _run_schedule(make(), names, cuts, pause)
            except Violation as violation:
                raise Violation(f"{violation} (schedule {cuts}, pause {pause})") from None
            schedules += 1
    return schedules


def sweep_schedules_with_a_fault(make: Callable[[], World], names: tuple[str, str]) -> int:
    """Two buyers with up to two pre-emptions, while the first write, or the purchase, fails in every way.

    Returns:
        The number of schedules.
    """
    schedules = 0
    for struck in (Advance, Send):
        probe = make()
        start(probe, names[0], "nonce").run()
        (first_struck, *_) = (effect for effect in probe.calls if isinstance(effect, struck))
        for fault in faults_of(first_struck):
            for cuts in _every_cut(make, names):
                world = make()
                world.choose_fault = _strike_once(struck, fault)
                try:
                    _run_schedule(world, names, cuts, PAUSES[0])
                except Violation as violation:
                    raise Violation(f"{violation} (schedule {cuts}, {fault} at {struck.__name__})") from None
                schedules += 1
    return schedules


def _every_cut(make: Callable[[], World], names: tuple[str, str]) -> Iterator[tuple[int, int]]:
    longest = max(_run_schedule(make(), names, (10**6 - 1, 0), timedelta(0))) + 2
    yield from itertools.product(range(longest), repeat=2)


def _strike_once(struck: type, fault: str) -> Callable[[Any], str]:
    left = [fault]

    def choose(effect: Any) -> str:
        return left.pop() if left and isinstance(effect, struck) else ""

    return choose


def random_life(seed: int) -> None:
    """One random life: some buyers, some at the same time, some faults, some pauses."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable test, not a secret
    make = dice.choice([*SCENARIOS.values(), two_orders_of_one_cluster, two_orders_over_the_month])
    world = make()
    budget = dice.choice((0, 1, 1, 2, 2, 3, 4))

    def choose(effect: Any) -> str:
        # The purchase itself matters most, and blind chance would seldom hit it.
        nonlocal budget
        if not budget or dice.random() > (0.5 if isinstance(effect, Send | Advance) else 0.1):
            return ""
        budget -= 1
        return dice.choice(faults_of(effect))

    world.choose_fault = choose
    try:
        names = [dice.choice(sorted(world.records)) for _ in range(dice.randint(1, 4))]
        running = [start(world, name, f"nonce-{number}") for number, name in enumerate(names)]
        while running:
            process = dice.choice(running)
            for _ in range(dice.randint(1, 12)):
                if not process.step():
                    running.remove(process)
                    break
            check(world)
            if dice.random() < 0.3:
                world.pass_time(dice.choice((*PAUSES, timedelta(minutes=100))))
        reconcile_all(world)
        check_settled(world)
    except Violation as violation:
        raise Violation(f"{violation} (seed {seed})") from None


def hunt(random_lives: int) -> None:
    """Everything that kills a wrong protocol, the fastest first.

    Raises:
        Violation: The first one.
    """
    special_lives()
    for make in SCENARIOS.values():
        sweep_single_faults(make)
    sweep_schedules(SCENARIOS["block"], ("december", "december"))
    sweep_schedules(two_orders_of_one_cluster, ("december", "january"))
    sweep_schedules(two_orders_over_the_month, ("december", "january"))
    sweep_schedules(two_extensions_of_one_block, ("longer", "longer-too"))
    sweep_schedules_with_a_fault(SCENARIOS["block"], ("december", "december"))
    for seed in range(random_lives):
        random_life(seed)
