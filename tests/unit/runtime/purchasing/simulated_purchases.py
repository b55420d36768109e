"""Purchases in the simulation, run to their end."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.scenarios import simulate, start
from tests.unit.runtime.purchasing.simulation import Process, Simulation

from ultracluster_runtime.purchasing.effects import Send
from ultracluster_runtime.purchasing.reconcile import Outcome, reconcile
from ultracluster_spec.findings import FindingsError


def bought(simulation: Simulation, name: str = "december") -> Outcome:
    result = start(simulation, name, "nonce").run()
    assert isinstance(result, Outcome), result
    return result


def refused(simulation: Simulation, name: str = "december", steps: Any = None) -> str:
    process = Process(simulation, name, steps) if steps is not None else start(simulation, name, "nonce")
    result = process.run()
    assert isinstance(result, FindingsError), result
    return result.findings[0].code


def strike(kind: Any, fault: str) -> Callable[[Any], str]:
    return lambda effect: fault if isinstance(effect, kind) else ""


def reconciled(simulation: Simulation, name: str = "december") -> Outcome:
    result = Process(simulation, name, reconcile(name)).run()
    assert isinstance(result, Outcome), result
    return result


def unknown() -> Simulation:
    simulation = simulate([block_order()], choose_fault=strike(Send, "lost-request"))
    bought(simulation)
    simulation.choose_fault = None
    simulation.pass_time(timedelta(minutes=31))
    reconciled(simulation)
    return simulation
