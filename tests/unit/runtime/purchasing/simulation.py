"""Simulated worlds to start from, and what every test does in them."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.unit.runtime.purchasing.examples import (
    block_order,
    extension_order,
    offerings_with_traps,
    on_demand_order,
    ultraserver_offering,
)
from tests.unit.runtime.purchasing.invariants import Violation
from tests.unit.runtime.purchasing.simulator import CLEAR, Process, World

from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.purchasing.orders import Order
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import reconcile


def world_of(orders: list[Order], **settings: Any) -> World:
    world = World(**{"offerings": offerings_with_traps(), **settings})
    for order in orders:
        world.approve(order)
    return world


_ULTRASERVERS = block_order(instance_type=None, ultraserver_type="u-trn2x64", count=2)

SCENARIOS: dict[str, Callable[[], World]] = {
    "block": lambda: world_of([block_order()]),
    "segmented": lambda: world_of([block_order()], segments=3),
    "payment-fails": lambda: world_of([block_order()], payment_fails=True),
    "extension": lambda: world_of([extension_order()]),
    "on-demand": lambda: world_of([on_demand_order()]),
    "ultraserver": lambda: world_of([_ULTRASERVERS], segments=2, offerings=(ultraserver_offering(),)),
}


def start(world: World, name: str, nonce: str) -> Process:
    """A process that buys."""
    return Process(world, name, buy(name, nonce=nonce))


def reconcile_all(world: World) -> None:
    """Reconcile every order, after all lag and without faults."""
    world.pass_time(CLEAR)
    world.faults, world.choose_fault = {}, None
    for name in world.records:
        result = Process(world, name, reconcile(name)).run()
        if isinstance(result, FindingsError):
            raise Violation(f"reconcile refused: {result}")


def two_orders_of_one_cluster() -> World:
    """Two orders that must not be under way together."""
    return world_of(
        [block_order(month_cap=Decimal(500000)), block_order(name="january", month_cap=Decimal(500000))]
    )


def two_orders_over_the_month() -> World:
    """Two orders of two clusters whose sum is above the cap of the month."""
    return world_of([block_order(), block_order(name="january", cluster="oregon")])


def two_extensions_of_one_block() -> World:
    """Two orders that would extend the same block."""
    return world_of([extension_order(), extension_order(name="longer-too")])
