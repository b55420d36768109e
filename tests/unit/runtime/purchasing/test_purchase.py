"""Buying, reconciling and deciding, one behavior at a time; fault exploration checks the invariants in combination."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import (
    block_order,
    extension_order,
    offering,
)
from tests.unit.runtime.purchasing.faults import LISTINGS
from tests.unit.runtime.purchasing.scenarios import simulate, start
from tests.unit.runtime.purchasing.simulated_purchases import bought, reconciled, refused, strike
from tests.unit.runtime.purchasing.simulation import START, Simulation

from ultracluster_runtime.purchasing.effects import (
    Advance,
    Send,
)
from ultracluster_runtime.purchasing.orders import OrderState


def test_buys_by_the_ranking_of_the_order() -> None:
    simulation = simulate([block_order(prefer="start")])
    sooner = offering(offering_id="cb-sooner", start=START + timedelta(days=1), fee=Decimal(199999))
    simulation.offerings += (sooner,)
    assert bought(simulation).record.offering_id == "cb-sooner"


@pytest.mark.parametrize(
    ("simulation", "code"),
    [
        (Simulation(), "UC7020"),
        (simulate([block_order()], choose_fault=strike(LISTINGS, "refused-4xx")), "UC7035"),
        (simulate([block_order()], choose_fault=strike(LISTINGS, "throttle")), "UC7035"),
        (simulate([block_order()], choose_fault=strike(Advance, "lost-request")), "UC7035"),
        (simulate([block_order()], locks={"cluster/ohio": "january"}), "UC7032"),
        (simulate([block_order()], months={"123456789012#USD#2026-11": Decimal("57758.35")}), "UC7033"),
    ],
)
def test_refuses_to_buy(simulation: Simulation, code: str) -> None:
    assert refused(simulation) == code
    assert simulation.sends == {}


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=-1), timedelta(minutes=2)])
def test_a_clock_that_is_set_after_the_dry_run_writes_no_order(ahead: timedelta) -> None:
    simulation = simulate([block_order()])
    process = start(simulation, "december", "nonce")
    while not process.dry_run_passed:
        assert process.step()
    process.step()  # the time at which AWS answered
    simulation.clock_ahead = ahead
    assert "UC7030" in str(process.run())
    assert simulation.records["december"].state is OrderState.APPROVED
    assert simulation.sends == {}


def test_a_fee_that_is_not_the_quoted_one_is_said() -> None:
    def raise_fee(effect: Any) -> str:
        if isinstance(effect, Send):
            simulation.extension_fee += 1
        return ""

    simulation = simulate([extension_order()])
    simulation.choose_fault = raise_fee
    outcome = start(simulation, "longer", "nonce").run()
    (finding,) = outcome.findings
    assert finding.code == "UC7054"
    assert "was quoted 9000 USD, and EC2 shows 9001 USD" in finding.problem
    assert outcome.record.state is OrderState.PURCHASED
    again = reconciled(simulation, "longer")
    assert [finding.code for finding in again.findings] == ["UC7054"]


def test_a_refusal_is_final() -> None:
    simulation = simulate([block_order()], choose_fault=strike(Send, "refused-4xx"))
    outcome = bought(simulation)
    assert outcome.record.state is OrderState.REJECTED
    assert [finding.code for finding in outcome.findings] == ["UC7039"]
    assert set(simulation.months.values()) == {Decimal(0)}
