"""Decisions of a person: closing an order, and cancelling a reservation."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import (
    on_demand_order,
)
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, simulate
from tests.unit.runtime.purchasing.simulated_purchases import bought, reconciled, refused, unknown
from tests.unit.runtime.purchasing.simulation import Process, Simulation

from ultracluster_runtime.purchasing.effects import (
    CancelReservation,
    Committed,
    OutcomeUnknown,
    Refused,
    Send,
    perform_all,
)
from ultracluster_runtime.purchasing.operator_actions import cancel, close
from ultracluster_runtime.purchasing.orders import OrderState
from ultracluster_spec.findings import FindingsError


def test_a_person_closes_an_unknown_order_on_evidence() -> None:
    simulation = unknown()
    outcome = Process(
        simulation, "december", close("december", evidence="CloudTrail: no PurchaseCapacityBlock")
    ).run()
    assert outcome.record.state is OrderState.CLOSED
    assert "CloudTrail" in outcome.record.reason
    assert simulation.locks == {}
    assert set(simulation.months.values()) == {Decimal(0)}


def test_only_unknown_orders_can_be_closed() -> None:
    assert refused(SCENARIOS["block"](), steps=close("december", evidence="x")) == "UC7023"


def test_late_evidence_reopens_a_closed_order() -> None:
    simulation = unknown()
    Process(simulation, "december", close("december", evidence="none seen")).run()
    request = next(effect.request for effect in simulation.calls if isinstance(effect, Send))
    simulation.execute(request, timedelta(0), "december")
    assert reconciled(simulation).record.state is OrderState.PURCHASED
    assert list(simulation.months.values()) == [Decimal("192241.66")]


def test_order_in_progress_cannot_be_cancelled() -> None:
    assert refused(unknown(), steps=cancel("december")) == "UC7023"


@pytest.mark.parametrize(
    ("reply", "code"),
    [(Refused("UnauthorizedOperation", "no"), "UC7031"), (OutcomeUnknown("lost"), "UC7035")],
)
def test_unconfirmed_cancellation_is_not_recorded(reply: Any, code: str) -> None:
    simulation = simulate([on_demand_order()])
    bought(simulation, "reserve")
    steps = cancel("reserve")
    with pytest.raises(FindingsError, match=code):
        _answer(steps, simulation, reply)
    assert simulation.records["reserve"].state is OrderState.PURCHASED


def test_on_demand_reservation_can_be_cancelled() -> None:
    simulation = simulate([on_demand_order()])
    bought(simulation, "reserve")
    outcome = _answer(cancel("reserve"), simulation, Committed())
    assert (outcome.record.state, outcome.record.reason) == (OrderState.CANCELLED, "cancelled")
    assert simulation.locks == {}


def _answer(steps: Any, simulation: Simulation, reply_to_cancelling: Any) -> Any:
    # The simulator has no cancellation, so this answers it.
    process = Process(simulation, "reserve", steps)

    def perform(effect: Any) -> Any:
        cancelling = isinstance(effect, CancelReservation)
        return reply_to_cancelling if cancelling else simulation.perform(effect, process)

    return perform_all(steps, perform)


def test_closing_an_order_requires_evidence() -> None:
    assert refused(unknown(), steps=close("december", evidence="  ")) == "UC7044"


def test_unused_approval_can_be_revoked() -> None:
    simulation = SCENARIOS["block"]()
    assert Process(simulation, "december", cancel("december")).run().record.state is OrderState.REVOKED
    assert refused(simulation) == "UC7023"
    assert simulation.sends == {}


def test_a_capacity_block_cannot_be_cancelled() -> None:
    simulation = SCENARIOS["block"]()
    bought(simulation)
    assert refused(simulation, steps=cancel("december")) == "UC7040"
