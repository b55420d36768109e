"""Buying, reconciling and deciding, one behavior at a time; fault exploration checks the invariants in combination."""

from dataclasses import replace
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
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, simulate, start
from tests.unit.runtime.purchasing.simulated_purchases import bought, reconciled, refused, strike
from tests.unit.runtime.purchasing.simulation import OWNED, OWNED_END, START, Simulation

from ultracluster_runtime.purchasing.effects import (
    Advance,
    DryRun,
    GetCallerAccount,
    Send,
)
from ultracluster_runtime.purchasing.orders import OrderState
from ultracluster_spec.findings import FindingsError


def test_buys_the_lowest_fee_that_meets_the_terms() -> None:
    outcome = bought(SCENARIOS["block"]())
    assert outcome.record.offering_id == "cb-good"
    assert outcome.record.state is OrderState.PURCHASED
    assert outcome.quote is not None
    assert outcome.quote.fee == Decimal("192241.66")


def test_buys_by_the_ranking_of_the_order() -> None:
    simulation = simulate([block_order(prefer="start")])
    sooner = offering(offering_id="cb-sooner", start=START + timedelta(days=1), fee=Decimal(199999))
    simulation.offerings += (sooner,)
    assert bought(simulation).record.offering_id == "cb-sooner"


def test_record_contains_what_a_rollout_needs() -> None:
    record = bought(SCENARIOS["block"]()).record
    assert (record.region, record.zone_ids) == ("us-east-2", ("use2-az3",))
    assert (record.start, record.end) == (START + timedelta(days=10), START + timedelta(days=24))
    assert len(record.reservation_ids) == 1


@pytest.mark.parametrize(
    ("simulation", "code"),
    [
        (Simulation(), "UC7020"),
        (simulate([block_order(expires_at=START)]), "UC7024"),
        (simulate([block_order(account="999999999999")]), "UC7026"),
        (simulate([block_order(max_fee=Decimal(99))]), "UC7027"),
        (simulate([block_order()], offerings=()), "UC7027"),
        (simulate([block_order()], clock_ahead=timedelta(minutes=1, seconds=2)), "UC7030"),
        (simulate([block_order()], confirmed=False), "UC7034"),
        (simulate([block_order()], choose_fault=strike(DryRun, "refused-4xx")), "UC7031"),
        (simulate([block_order()], choose_fault=strike(DryRun, "answers-normally")), "UC7047"),
        (simulate([block_order()], choose_fault=strike(GetCallerAccount, "refused-4xx")), "UC7035"),
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


def test_buys_with_a_clock_skew_just_within_a_minute() -> None:
    assert bought(simulate([block_order()], clock_ahead=timedelta(seconds=59))).record.reservation_ids


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


def test_buys_when_the_monthly_cap_is_just_met() -> None:
    simulation = simulate([block_order()], months={"123456789012#USD#2026-11": Decimal("57758.34")})
    assert bought(simulation).record.reservation_ids


def test_refuses_terms_that_were_edited() -> None:
    simulation = simulate([block_order()])
    simulation.records["december"] = replace(simulation.records["december"], order=block_order(count=32))
    assert refused(simulation) == "UC7025"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"reservation_id": "cr-00000000000000001"}, "does not exist"),
        ({"expected_end": OWNED_END + timedelta(days=1)}, "not 2026-12-01"),
        ({"extension_hours": 182 * 24}, "longer than 182 days"),
    ],
)
def test_refuses_to_extend_a_block_that_is_not_as_expected(changes: dict[str, Any], problem: str) -> None:
    simulation = simulate([extension_order(**changes)])
    result = start(simulation, "longer", "nonce").run()
    assert isinstance(result, FindingsError)
    assert result.findings[0].code == "UC7028"
    assert problem in str(result)


@pytest.mark.parametrize(
    ("before_end", "sold"), [(timedelta(hours=1, minutes=1), True), (timedelta(minutes=59), False)]
)
def test_extends_until_an_hour_before_the_end(before_end: timedelta, *, sold: bool) -> None:
    simulation = simulate([extension_order(expires_at=OWNED_END)])
    simulation.now = OWNED_END - before_end
    if sold:
        assert bought(simulation, "longer").record.reservation_ids == (OWNED,)
    else:
        assert refused(simulation, "longer") == "UC7028"


def test_refuses_a_second_extension_while_a_payment_is_pending() -> None:
    simulation = simulate([extension_order(), extension_order(name="longer-too")])
    bought(simulation, "longer")
    simulation.extension_end = OWNED_END  # as EC2 shows it until the payment has cleared
    assert refused(simulation, "longer-too") == "UC7029"


def test_a_refusal_is_final() -> None:
    simulation = simulate([block_order()], choose_fault=strike(Send, "refused-4xx"))
    outcome = bought(simulation)
    assert outcome.record.state is OrderState.REJECTED
    assert [finding.code for finding in outcome.findings] == ["UC7039"]
    assert set(simulation.months.values()) == {Decimal(0)}
