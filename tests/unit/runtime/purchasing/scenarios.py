"""Simulations to start from, and steps that tests share."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.unit.runtime.purchasing.example_orders import (
    block_order,
    extension_order,
    offerings_with_traps,
    on_demand_order,
    ultraserver_offering,
)
from tests.unit.runtime.purchasing.invariants import Violation
from tests.unit.runtime.purchasing.simulation import CLEAR, Process, Simulation

from ultracluster_runtime.purchasing.orders import Order
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import reconcile
from ultracluster_spec.findings import FindingsError


def simulate(orders: list[Order], **settings: Any) -> Simulation:
    simulation = Simulation(**{"offerings": offerings_with_traps(), **settings})
    for order in orders:
        simulation.approve(order)
    return simulation


_ULTRASERVERS = block_order(instance_type=None, ultraserver_type="u-trn2x64", count=2)

SCENARIOS: dict[str, Callable[[], Simulation]] = {
    "block": lambda: simulate([block_order()]),
    "segmented": lambda: simulate([block_order()], segments=3),
    "payment-fails": lambda: simulate([block_order()], payment_fails=True),
    "extension": lambda: simulate([extension_order()]),
    "on-demand": lambda: simulate([on_demand_order()]),
    "ultraserver": lambda: simulate([_ULTRASERVERS], segments=2, offerings=(ultraserver_offering(),)),
}


def start(simulation: Simulation, name: str, nonce: str) -> Process:
    """A process that buys."""
    return Process(simulation, name, buy(name, nonce=nonce))


def reconcile_all(simulation: Simulation) -> None:
    """Reconcile every order, after all lag and without faults."""
    simulation.pass_time(CLEAR)
    simulation.faults, simulation.choose_fault = {}, None
    for name in simulation.records:
        result = Process(simulation, name, reconcile(name)).run()
        if isinstance(result, FindingsError):
            raise Violation(f"reconcile refused: {result}")


def two_orders_of_one_cluster() -> Simulation:
    """Two orders that must not be under way together."""
    return simulate(
        [block_order(month_cap=Decimal(500000)), block_order(name="january", month_cap=Decimal(500000))]
    )


def two_orders_over_the_month() -> Simulation:
    """Two orders of two clusters whose sum is above the cap of the month."""
    return simulate([block_order(), block_order(name="january", cluster="oregon")])


def two_extensions_of_one_block() -> Simulation:
    """Two orders that would extend the same block."""
    return simulate([extension_order(), extension_order(name="longer-too")])
