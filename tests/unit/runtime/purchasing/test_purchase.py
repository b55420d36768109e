"""Buying, reconciling and deciding, one behavior at a time; fault exploration checks the invariants in combination."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import (
    block_order,
    extension_order,
    offering,
    on_demand_order,
)
from tests.unit.runtime.purchasing.faults import LISTINGS
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, simulate, start
from tests.unit.runtime.purchasing.simulation import OWNED, OWNED_END, PAYMENT, START, Process, Simulation

from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.purchasing.effects import (
    Advance,
    CancelReservation,
    Committed,
    DryRun,
    GetCallerAccount,
    OutcomeUnknown,
    Refused,
    Send,
)
from ultracluster_runtime.purchasing.operator_actions import cancel, close
from ultracluster_runtime.purchasing.orders import OrderState
from ultracluster_runtime.purchasing.reconcile import UNKNOWN_AFTER, Outcome, reconcile


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
        (simulate([block_order()], clock_ahead=timedelta(minutes=5, seconds=2)), "UC7030"),
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


def test_buys_with_a_clock_skew_just_within_five_minutes() -> None:
    assert bought(
        simulate([block_order()], clock_ahead=timedelta(minutes=4, seconds=59))
    ).record.reservation_ids


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


def test_lists_all_reservations_while_the_payment_is_pending() -> None:
    simulation = SCENARIOS["segmented"]()
    simulation.choose_fault = strike(Send, "lost-reply-after")
    start(simulation, "december", "nonce").run()
    simulation.choose_fault = None
    simulation.pass_time(timedelta(minutes=5))
    record = reconciled(simulation).record
    assert record.state is OrderState.PURCHASED
    assert len(record.reservation_ids) == 3
    assert {state.partition("=")[2] for state in record.ec2_states} == {"payment-pending"}


def test_confirmed_payment_releases_the_lock() -> None:
    simulation = SCENARIOS["block"]()
    bought(simulation)
    assert simulation.locks == {"cluster/ohio": "december"}
    simulation.pass_time(PAYMENT)
    assert reconciled(simulation).record.state is OrderState.PAID
    assert simulation.locks == {}
    assert list(simulation.months.values()) == [Decimal("192241.66")]


def test_failed_payment_is_final_and_releases_the_fee() -> None:
    simulation = SCENARIOS["payment-fails"]()
    bought(simulation)
    simulation.pass_time(PAYMENT)
    outcome = reconciled(simulation)
    assert outcome.record.state is OrderState.FAILED
    assert [finding.code for finding in outcome.findings] == ["UC7038"]
    assert set(simulation.months.values()) == {Decimal(0)}
    bought_again = start(simulation, "december", "again").run()
    assert bought_again.record.state is OrderState.FAILED
    assert simulation.sends == {"december": 1}


def test_a_refusal_is_final() -> None:
    simulation = simulate([block_order()], choose_fault=strike(Send, "refused-4xx"))
    outcome = bought(simulation)
    assert outcome.record.state is OrderState.REJECTED
    assert [finding.code for finding in outcome.findings] == ["UC7039"]
    assert set(simulation.months.values()) == {Decimal(0)}


@pytest.mark.parametrize(("minutes", "state"), [(29, OrderState.SENDING), (31, OrderState.UNKNOWN)])
def test_order_without_evidence_becomes_unknown_after_thirty_minutes(minutes: int, state: OrderState) -> None:
    simulation = simulate([block_order()], choose_fault=strike(Send, "lost-request"))
    outcome = bought(simulation)
    assert outcome.record.state is OrderState.SENDING
    assert [finding.code for finding in outcome.findings] == ["UC7036"]
    simulation.pass_time(timedelta(minutes=minutes))
    later = reconciled(simulation)
    assert later.record.state is state
    assert [finding.code for finding in later.findings] == [
        "UC7037" if state is OrderState.UNKNOWN else "UC7036"
    ]
    assert timedelta(minutes=30) == UNKNOWN_AFTER


def unknown() -> Simulation:
    simulation = simulate([block_order()], choose_fault=strike(Send, "lost-request"))
    bought(simulation)
    simulation.choose_fault = None
    simulation.pass_time(timedelta(minutes=31))
    reconciled(simulation)
    return simulation


def test_a_person_closes_an_unknown_order_on_evidence() -> None:
    simulation = unknown()
    outcome = Process(
        simulation, "december", close("december", evidence="CloudTrail: no PurchaseCapacityBlock")
    ).run()
    assert outcome.record.state is OrderState.CLOSED
    assert "CloudTrail" in outcome.record.reason
    assert simulation.locks == {}
    assert set(simulation.months.values()) == {Decimal(0)}


def test_closing_an_order_requires_evidence() -> None:
    assert refused(unknown(), steps=close("december", evidence="  ")) == "UC7044"


def test_only_unknown_orders_can_be_closed() -> None:
    assert refused(SCENARIOS["block"](), steps=close("december", evidence="x")) == "UC7023"


def test_late_evidence_reopens_a_closed_order() -> None:
    simulation = unknown()
    Process(simulation, "december", close("december", evidence="none seen")).run()
    request = next(effect.request for effect in simulation.calls if isinstance(effect, Send))
    simulation.execute(request, timedelta(0), "december")
    assert reconciled(simulation).record.state is OrderState.PURCHASED
    assert list(simulation.months.values()) == [Decimal("192241.66")]


def test_unused_approval_can_be_revoked() -> None:
    simulation = SCENARIOS["block"]()
    assert Process(simulation, "december", cancel("december")).run().record.state is OrderState.REVOKED
    assert refused(simulation) == "UC7023"
    assert simulation.sends == {}


def test_a_capacity_block_cannot_be_cancelled() -> None:
    simulation = SCENARIOS["block"]()
    bought(simulation)
    assert refused(simulation, steps=cancel("december")) == "UC7040"


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
    assert outcome.record.state is OrderState.CANCELLED
    assert simulation.locks == {}


def _answer(steps: Any, simulation: Simulation, reply_to_cancelling: Any) -> Outcome:
    # The simulator has no cancellation, so this answers it.
    reply: Any = None
    process = Process(simulation, "reserve", steps)
    while True:
        try:
            effect = steps.send(reply)
        except StopIteration as stop:
            outcome: Outcome = stop.value
            return outcome
        cancelling = isinstance(effect, CancelReservation)
        reply = reply_to_cancelling if cancelling else simulation.perform(effect, process)


def test_shows_untagged_reservations_that_resemble_an_unknown_order() -> None:
    simulation = unknown()
    request = next(effect.request for effect in simulation.calls if isinstance(effect, Send))
    simulation.execute(replace(request, order_name=None), timedelta(0), "nobody")
    (finding,) = reconciled(simulation).findings
    assert finding.code == "UC7037"
    assert simulation.bought[0].ids[0] in finding.problem
