"""Run the purchase protocol through every fault, every schedule and many random scenarios, in the simulation."""

import itertools
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from tests.unit.runtime.purchasing.example_orders import block_order, offering
from tests.unit.runtime.purchasing.faults import faults_of
from tests.unit.runtime.purchasing.invariants import Violation, check, check_overlaps, check_settled
from tests.unit.runtime.purchasing.scenarios import (
    SCENARIOS,
    reconcile_all,
    simulate,
    start,
    two_orders_of_one_cluster,
    two_orders_over_the_month,
)
from tests.unit.runtime.purchasing.simulation import START, Process, Simulation

from ultracluster_runtime.purchasing.effects import Advance, Send
from ultracluster_runtime.purchasing.orders import Order

TURNS = (timedelta(minutes=5), timedelta(minutes=40))
"""How long it takes until somebody tries again, each time that somebody buys."""


def run_scenario(simulation: Simulation) -> None:
    """One life of the orders: buy, try again soon, try again later, reconcile; and buy once more in the end."""
    for number in range(len(TURNS)):
        _buy_all(simulation, number)
    _end(simulation)


def _buy_all(simulation: Simulation, turn: int) -> None:
    for name in sorted(simulation.records):
        start(simulation, name, f"nonce-{turn}").run()
        check(simulation)
    simulation.pass_time(TURNS[turn])


def _end(simulation: Simulation) -> None:
    reconcile_all(simulation)
    check_settled(simulation)
    for name in sorted(simulation.records):
        if simulation.sends.get(name):
            start(simulation, name, "nonce-again").run()
    reconcile_all(simulation)
    check_settled(simulation)


def sweep_faults(make: Callable[[], Simulation], *, faults: int) -> int:
    """Every choice of so many faults, each at every call.

    Returns:
        The number of lives.
    """
    return _ScenarioTree().from_here(make(), turn=0, faults=faults)


class _ScenarioTree:
    """Every life with so many faults, as a tree: what lives have in common is lived once.

    Between two processes a world is its state and nothing else. So lives that part at a fault share all before it, and
    lives whose faults led to the same state, such as a read that was repeated for one reason or another, share the rest.
    """

    def __init__(self) -> None:
        self._counted: dict[Hashable, int] = {}

    def from_here(self, simulation: Simulation, *, turn: int, faults: int) -> int:
        """Live on from the beginning of a turn, with each choice of so many faults.

        Returns:
            The number of lives.
        """
        here = (turn, faults, simulation.state)
        if here not in self._counted:
            if turn == len(TURNS):
                _end(simulation.copy())
                self._counted[here] = 0 if faults else 1
            else:
                self._counted[here] = sum(self._through(simulation, turn, faults, {}))
        return self._counted[here]

    def _through(
        self, simulation: Simulation, turn: int, faults: int, struck: dict[int, str]
    ) -> Iterator[int]:
        """Live through a turn with these faults, and each choice of later ones."""
        after = simulation.copy()
        after.faults = struck
        try:
            _buy_all(after, turn)
            yield self.from_here(after, turn=turn + 1, faults=faults)
        except Violation as violation:
            raise Violation(f"{violation} (in turn {turn}: {struck})") from None
        if faults:
            for number in range(max(struck, default=-1) + 1, len(after.calls)):
                for fault in faults_of(after.calls[number]):
                    yield from self._through(simulation, turn, faults - 1, {**struck, number: fault})


def _run_schedule(
    simulation: Simulation, names: tuple[str, str], cuts: tuple[int, int], pause: timedelta
) -> tuple[bool, bool]:
    """The first process runs `cuts[0]` steps, the second `cuts[1]`, the first to its end, the second to its end.

    Returns:
        Whether the first and the second were still under way when they were cut off.
    """
    processes = [start(simulation, name, f"nonce-{number}") for number, name in enumerate(names)]
    for process, cut in zip(processes, cuts, strict=True):
        for _ in range(cut):
            if not process.step():
                break
        check(simulation)
        simulation.pass_time(pause)
    cut_off = (not processes[0].done, not processes[1].done)
    for process in processes:
        process.run()
        check(simulation)
    reconcile_all(simulation)
    check_settled(simulation)
    return cut_off


PAUSES = (timedelta(seconds=1), timedelta(seconds=45), timedelta(minutes=31))
"""What a preempted process may miss: nothing, a little, and the time after which others give it up."""


def sweep_schedules(make: Callable[[], Simulation], names: tuple[str, str]) -> int:
    """Two buyers with up to two pre-emptions, each at every step, for every pause.

    Returns:
        The number of schedules.
    """
    return sum(_sweep_cuts(make, names, pause) for pause in PAUSES)


def _sweep_cuts(make: Callable[[], Simulation], names: tuple[str, str], pause: timedelta) -> int:
    """Cut both at every step; to cut one off after its end is no other schedule than to cut it off at its end."""
    schedules = 0
    for first in itertools.count():
        for second in itertools.count():
            try:
                first_cut_off, second_cut_off = _run_schedule(make(), names, (first, second), pause)
            except Violation as violation:
                raise Violation(f"{violation} (schedule {first, second}, pause {pause})") from None
            schedules += 1
            if not second_cut_off:
                break
        if not first_cut_off:
            break
    return schedules


def sweep_schedules_with_a_fault(make: Callable[[], Simulation], names: tuple[str, str]) -> int:
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
            try:
                schedules += _sweep_cuts(partial(_struck_once, make, struck, fault), names, PAUSES[0])
            except Violation as violation:
                raise Violation(f"{violation} ({fault} at {struck.__name__})") from None
    return schedules


def _struck_once(make: Callable[[], Simulation], struck: type, fault: str) -> Simulation:
    left = [fault]

    def choose(effect: Any) -> str:
        return left.pop() if left and isinstance(effect, struck) else ""

    simulation = make()
    simulation.choose_fault = choose
    return simulation


CLOCKS = (
    timedelta(0),
    timedelta(seconds=50),
    timedelta(seconds=-50),
    timedelta(minutes=3),
    timedelta(days=1),
    timedelta(days=-1),
)
"""How far the clock of a machine is ahead."""


def life_of_overlapping_orders(seed: int) -> tuple[int, int]:
    """One random life of orders that overlap, on machines whose clocks are set, while prices move and calls fail.

    Returns:
        The number of purchases, and of pairs of purchases for one need that a person wanted.
    """
    dice = random.Random(seed)  # noqa: S311 - a repeatable test, not a secret
    simulation, orders = _world_of_overlapping_orders(dice)
    running: list[Process] = []
    try:
        for number in range(60):
            if orders and dice.random() < 0.3:
                simulation.approve(orders.pop())
            if len(running) < 3 and simulation.records and number < 40:
                process = start(simulation, dice.choice(sorted(simulation.records)), f"nonce-{number}")
                process.clock_ahead = dice.choice((*CLOCKS[:3], *CLOCKS[:3], *CLOCKS))
                running.append(process)
            running = [process for process in running if _goes_on(process, dice)]
            if dice.random() < 0.2:
                moved = Decimal(dice.choice(("0.95", "1.01", "1.2")))
                simulation.offerings = tuple(
                    replace(item, fee=item.fee * moved) for item in simulation.offerings
                )
            if dice.random() < 0.2:
                simulation.pass_time(dice.choice((*PAUSES, timedelta(minutes=100))))
            check(simulation)
        for process in running:
            process.run()
        reconcile_all(simulation)
        check_settled(simulation)
        return len(simulation.bought), check_overlaps(simulation)
    except Violation as violation:
        raise Violation(f"{violation} (seed {seed})") from None


def _world_of_overlapping_orders(dice: random.Random) -> tuple[Simulation, list[Order]]:
    """A world that sells three blocks, with calls that may fail, and orders to approve in it."""
    simulation = simulate(
        [],
        offerings=(
            offering(),
            offering(
                offering_id="cb-later", start=START + timedelta(days=30), end=START + timedelta(days=44)
            ),
            offering(offering_id="cb-half", instance_count=8, fee=Decimal(99000)),
        ),
        accepts=lambda _: dice.random() < 0.4,
    )
    simulation.choose_fault = _likely_faults(dice, dice.choice((0, 0, 1, 2)))
    days = [dice.choice((0, 0, 5, 20)) for _ in range(dice.randint(2, 3))]
    return simulation, [
        block_order(
            name=name,
            cluster=dice.choice(("ohio", "ohio", "oregon")),
            count=dice.choice((16, 16, 8)),
            start_after=START + timedelta(days=day),
            start_before=START + timedelta(days=day + 30),
            max_fee=dice.choice((Decimal(195000), Decimal(250000))),
            month_cap=Decimal(10**6),
        )
        for name, day in zip(("december", "january", "february"), days, strict=False)
    ]


def _likely_faults(dice: random.Random, budget: int) -> Callable[[Any], str]:
    def choose(effect: Any) -> str:
        # The purchase itself matters most, and blind chance would seldom hit it.
        nonlocal budget
        if not budget or dice.random() > (0.5 if isinstance(effect, Send | Advance) else 0.1):
            return ""
        budget -= 1
        return dice.choice(faults_of(effect))

    return choose


def _goes_on(process: Process, dice: random.Random) -> bool:
    """Let a process run for a while, or not; its clock may be set meanwhile."""
    for _ in range(dice.choice((0, dice.randint(1, 12)))):
        if not process.step():
            return False
        if dice.random() < 0.01:
            process.clock_ahead = dice.choice(CLOCKS)
    return True


def random_life(seed: int) -> None:
    """One random life: some buyers, some at the same time, some faults, some pauses."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable test, not a secret
    make = dice.choice([*SCENARIOS.values(), two_orders_of_one_cluster, two_orders_over_the_month])
    simulation = make()
    simulation.choose_fault = _likely_faults(dice, dice.choice((0, 1, 1, 2, 2, 3, 4)))
    try:
        names = [dice.choice(sorted(simulation.records)) for _ in range(dice.randint(1, 4))]
        running = [start(simulation, name, f"nonce-{number}") for number, name in enumerate(names)]
        while running:
            process = dice.choice(running)
            for _ in range(dice.randint(1, 12)):
                if not process.step():
                    running.remove(process)
                    break
            check(simulation)
            if dice.random() < 0.3:
                simulation.pass_time(dice.choice((*PAUSES, timedelta(minutes=100))))
        reconcile_all(simulation)
        check_settled(simulation)
    except Violation as violation:
        raise Violation(f"{violation} (seed {seed})") from None
