"""Jobs get checkpoint requests, paid time stays usable, and other jobs stay untouched, in every scenario.

Where a group starts the nodes, paid ones run besides, it wants none outside the block, and ends no job.
"""

import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.unit.runtime.lifecycle.lifecycle_scenarios import (
    ALL_SCENARIOS,
    KINDS,
    check_no_job_left_to_ec2,
    refusing_nodes,
    run,
    with_sweeps,
)
from tests.unit.runtime.lifecycle.lifecycle_simulation import (
    NO_FAULTS,
    NODES,
    Block,
    Faults,
    Simulation,
    Violation,
    by_fleets,
)

from ultracluster_runtime.lifecycle.actions import SetFleet, SetProtection

pytestmark = pytest.mark.slow


def whole_life() -> None:
    """Nodes are there in the first minute and gone before EC2 ends them."""
    for ultraserver in (False, True):
        block = Block(name="a", start=20, end=300, ultraserver=ultraserver)
        simulation = Simulation(block, tolerance=1)
        run(simulation, begin=0, until=21)
        if len(block.nodes) != NODES:
            raise Violation(f"{len(block.nodes)} nodes in the first minute")
        run(simulation, begin=21, until=320)
        check_no_job_left_to_ec2(simulation)
        if block.left_to_ec2 or block.desired or block.spent != NODES:
            raise Violation(f"{block.left_to_ec2} nodes left to EC2, {block.spent} launched")


def lost_nodes() -> None:
    """Nodes that are lost are replaced."""
    block = Block(name="a", start=20, end=300, losing=range(60, 66))
    simulation = Simulation(block, tolerance=1)
    run(simulation, begin=0, until=67)
    if len(block.nodes) != NODES or block.spent != NODES + 6:
        raise Violation(f"{len(block.nodes)} nodes after 6 were lost, {block.spent} launched")
    run(simulation, begin=67, until=320)
    check_no_job_left_to_ec2(simulation)


def refusals() -> None:
    """Nodes that refuse are replaced, a few in an hour, and people hear of each, and once that no more come."""
    for first, minutes in ((20, 2), (20, 400), (100, 1), (100, 30)):
        losing = range(first, first + 1) if first > 20 else range(0)
        block = Block(name="a", start=20, end=500, refusing=range(first, first + minutes), losing=losing)
        simulation = Simulation(block, tolerance=1, seed=minutes)
        run(simulation, begin=0, until=500)
        refused = sorted(block.refused.values())
        for minute in refused:
            if (within := sum(minute <= other < minute + 60 for other in refused)) > 4:
                raise Violation(f"{within} nodes refused within an hour, and were replaced")
        if minutes == 400 and len(refused) < 6 * 3:
            raise Violation(f"only {len(refused)} tries in 400 minutes")
        told = [name for notice in block.notices for name in notice.notices if name.startswith("refused")]
        if sorted(told) != sorted(f"refused {node}" for node in block.refused):
            raise Violation(f"{len(refused)} nodes refused, people heard of {told}")
        held = any(name.startswith("held") for notice in block.notices for name in notice.notices)
        if held is not (len(refused) >= 3):
            raise Violation(
                f"{len(refused)} refusals, people heard {'of' if held else 'nothing of'} the limit"
            )


def late_group() -> None:
    """The group cannot be read at first, or sometimes: then nothing is done about it, and all else is."""
    unread = Faults(blind=frozenset({"fleet"}))
    block = Block(name="a", start=20, end=300)
    simulation = Simulation(block, tolerance=15)
    run(
        simulation, lambda minute, _: [unread if minute < 30 or minute % 2 else NO_FAULTS], begin=0, until=320
    )
    check_no_job_left_to_ec2(simulation)
    if block.left_to_ec2:
        raise Violation("nodes were left to EC2")


def permissions_missing() -> None:
    """The group may not be sized, or its nodes not be given up: jobs are ended all the same."""
    for action in (SetFleet, SetProtection):
        block = Block(name="a", start=20, end=300)
        simulation = Simulation(block, tolerance=10_000, never_works=action)
        run(simulation, begin=0, until=320)
        if action is SetProtection:
            check_no_job_left_to_ec2(simulation)
        simulation.check_notices(block, {"T-2h": 1, "report": 1}, extra=0)


def taken_back() -> None:
    """An extension is paid for in the middle of the drain: nodes stay, and are protected at the next drain."""
    for bought, paid, seed in ((bought, 205, seed) for bought in (190, 195, 199) for seed in range(5)):
        block = Block(name="a", start=20, end=240, extensions={bought: (paid, 420)})
        simulation = Simulation(block, tolerance=3, seed=seed)
        run(simulation, begin=150, until=440)
        if block.left_to_ec2 or block.desired or block.spent != NODES:
            raise Violation(f"after an extension: {block.left_to_ec2} left to EC2, {block.spent} launched")
    # Nodes were given up, but the group could not be emptied, before the extension was bought.
    block = Block(name="a", start=20, end=240, extensions={204: (205, 420)})
    simulation = Simulation(block, tolerance=40)
    run(simulation, begin=150, until=200)
    simulation.never_works = SetFleet
    run(simulation, begin=200, until=205)
    simulation.never_works = None
    run(simulation, lambda minute, _: [] if 350 < minute < 381 else [NO_FAULTS], begin=205, until=440)


def late_words() -> None:
    """Jobs are told after the drain began, and their nodes stay until they have ended, whatever cannot be seen."""
    for kind, seed in (
        (kind, seed) for kind in ("jobs", "environment", "extension_pending") for seed in range(4)
    ):
        block = Block(name="a", start=20, end=240)
        simulation = Simulation(block, tolerance=30, seed=seed)
        unseen = Faults(blind=frozenset({kind}))

        def invocations(minute: int, _block: Block, unseen: Faults = unseen) -> list[Faults]:
            if minute < 200:
                return [NO_FAULTS] if minute < 170 else []
            return [NO_FAULTS if minute % 2 else unseen]

        run(simulation, invocations, begin=150, until=260)
        check_no_job_left_to_ec2(simulation)


def losses_and_faults() -> None:
    """Anything, at any time."""
    for seed in range(40):
        chance = random.Random(seed)  # noqa: S311 - chance that can be repeated
        lost = chance.randrange(30, 200)
        block = Block(
            name="a",
            start=20,
            end=300,
            skew=timedelta(seconds=chance.randrange(-60, 61)),
            losing=range(lost, lost + chance.randrange(4)),
        )
        simulation = Simulation(block, tolerance=9, seed=seed)
        unlucky = 0

        def invocations(_minute: int, _block: Block, chance: random.Random = chance) -> list[Faults]:
            nonlocal unlucky
            unlucky = 0 if unlucky >= 4 or chance.random() < 0.5 else unlucky + 1
            return [*chance.choice([*KINDS.values(), _UNREAD])] if unlucky else [NO_FAULTS]

        try:
            run(simulation, invocations, begin=0, until=320)
        except Violation as violation:
            raise Violation(f"seed {seed}: {violation}") from violation


_UNREAD = [Faults(blind=frozenset({"fleet"}))]

OWN_SCENARIOS: tuple[Callable[[], object], ...] = (
    whole_life,
    lost_nodes,
    refusals,
    late_group,
    permissions_missing,
    taken_back,
    late_words,
    losses_and_faults,
)
SCENARIOS = (*OWN_SCENARIOS, *(scenario for scenario in ALL_SCENARIOS if scenario is not refusing_nodes))


@pytest.mark.parametrize("scenario", with_sweeps(ALL_SCENARIOS))
def test_life_of_a_block_violates_nothing(scenario: Callable[[], object]) -> None:
    scenario()


@pytest.mark.parametrize("scenario", with_sweeps(SCENARIOS))
def test_life_of_a_fleet_violates_nothing(scenario: Callable[[], object]) -> None:
    with by_fleets():
        scenario()
