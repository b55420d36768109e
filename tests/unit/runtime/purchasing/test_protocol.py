"""At most one purchase under every single fault, every pair of faults, every schedule of two buyers, and random scenarios."""

from collections.abc import Callable

import pytest
from tests.unit.runtime.purchasing import fault_exploration
from tests.unit.runtime.purchasing.faults import ALL_FAULTS, faults_of
from tests.unit.runtime.purchasing.scenarios import (
    SCENARIOS,
    two_extensions_of_one_block,
    two_orders_of_one_cluster,
    two_orders_over_the_month,
)
from tests.unit.runtime.purchasing.simulation import Simulation
from tests.unit.runtime.purchasing.special_scenarios import run_special_scenarios

pytestmark = pytest.mark.slow

# The others differ from these in what EC2 answers, not in the calls.
PAIRED = {"block", "extension"}

# Fewer lives than this and the sweep has stopped to sweep; the figures are those of the present protocol.
FEWEST_SINGLE = 90
FEWEST_PAIRS = 4000
FEWEST_SCHEDULES = 300


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_buys_at_most_once_under_every_single_fault(scenario: str) -> None:
    assert fault_exploration.sweep_faults(SCENARIOS[scenario], faults=1) >= FEWEST_SINGLE


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(name, marks=() if name in PAIRED else pytest.mark.deep) for name in sorted(SCENARIOS)],
)
def test_buys_at_most_once_under_every_pair_of_faults(scenario: str) -> None:
    assert fault_exploration.sweep_faults(SCENARIOS[scenario], faults=2) >= FEWEST_PAIRS


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_two_buyers_of_one_order_buy_at_most_once_in_every_schedule(scenario: str) -> None:
    make = SCENARIOS[scenario]
    (name,) = make().records
    assert fault_exploration.sweep_schedules(make, (name, name)) >= FEWEST_SCHEDULES


@pytest.mark.parametrize("scenario", ["on-demand", pytest.param("block", marks=pytest.mark.deep)])
def test_two_buyers_buy_at_most_once_when_a_write_fails_in_every_schedule(scenario: str) -> None:
    make = SCENARIOS[scenario]
    (name,) = make().records
    assert fault_exploration.sweep_schedules_with_a_fault(make, (name, name)) >= FEWEST_SCHEDULES


@pytest.mark.parametrize(
    "make", [two_orders_of_one_cluster, two_orders_over_the_month, two_extensions_of_one_block]
)
def test_two_orders_never_run_concurrently_above_the_cap_nor_twice(make: Callable[[], Simulation]) -> None:
    one, other = make().records
    assert fault_exploration.sweep_schedules(make, (one, other)) >= FEWEST_SCHEDULES


def test_nothing_is_sent_in_scenarios_that_must_not_buy() -> None:
    run_special_scenarios()


@pytest.mark.parametrize("lives", [500, pytest.param(20_000, marks=pytest.mark.deep)])
def test_random_scenarios_buy_at_most_once(lives: int) -> None:
    for seed in range(lives):
        fault_exploration.random_life(seed)


@pytest.mark.parametrize("lives", [100, pytest.param(1_000, marks=pytest.mark.deep)])
def test_nothing_is_bought_twice_without_a_yes_nor_above_the_cap_that_was_read_last(lives: int) -> None:
    counted = [fault_exploration.life_of_overlapping_orders(seed) for seed in range(lives)]
    bought, wanted = map(sum, zip(*counted, strict=True))
    assert bought > lives / 2  # else the lives show nothing
    assert wanted > lives / 20


def test_every_fault_applies_to_some_call() -> None:
    struck: set[str] = set()
    for make in SCENARIOS.values():
        simulation = make()
        fault_exploration.run_scenario(simulation)
        struck |= {fault for effect in simulation.calls for fault in faults_of(effect)}
    assert struck == ALL_FAULTS
    assert len(ALL_FAULTS) >= 11


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_without_faults_it_does_buy(scenario: str) -> None:
    simulation = SCENARIOS[scenario]()
    fault_exploration.run_scenario(simulation)
    assert list(simulation.sends.values()) == [1]
    assert len(simulation.bought) == 1
