"""Buying, reconciling and deciding, one behaviour at a time; the sweeps hold the invariants in all combinations."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.examples import block_order, extension_order, offering, on_demand_order
from tests.unit.runtime.purchasing.faults import LISTINGS
from tests.unit.runtime.purchasing.simulation import SCENARIOS, start, world_of
from tests.unit.runtime.purchasing.simulator import OWNED, OWNED_END, PAYMENT, START, Process, World

from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.purchasing.effects import (
    Advance,
    CancelReservation,
    Committed,
    DryRun,
    Identify,
    Refused,
    Send,
    Unclear,
)
from ultracluster_runtime.purchasing.operator_actions import cancel, close
from ultracluster_runtime.purchasing.order_states import OrderState
from ultracluster_runtime.purchasing.reconcile import UNKNOWN_AFTER, Outcome, reconcile


def bought(world: World, name: str = "december") -> Outcome:
    result = start(world, name, "nonce").run()
    assert isinstance(result, Outcome), result
    return result


def refused(world: World, name: str = "december", steps: Any = None) -> str:
    process = Process(world, name, steps) if steps is not None else start(world, name, "nonce")
    result = process.run()
    assert isinstance(result, FindingsError), result
    return result.findings[0].code


def strike(kind: Any, fault: str) -> Callable[[Any], str]:
    return lambda effect: fault if isinstance(effect, kind) else ""


def reconciled(world: World, name: str = "december") -> Outcome:
    result = Process(world, name, reconcile(name)).run()
    assert isinstance(result, Outcome), result
    return result


def test_buys_the_lowest_fee_that_keeps_the_terms() -> None:
    outcome = bought(SCENARIOS["block"]())
    assert outcome.record.offering_id == "cb-good"
    assert outcome.record.state is OrderState.PURCHASED
    assert outcome.quote is not None
    assert outcome.quote.fee == Decimal("192241.66")


def test_buys_by_another_ranking_when_the_order_says_so() -> None:
    world = world_of([block_order(prefer="start")])
    sooner = offering(offering_id="cb-sooner", start=START + timedelta(days=1), fee=Decimal(199999))
    world.offerings += (sooner,)
    assert bought(world).record.offering_id == "cb-sooner"


def test_the_record_says_what_a_rollout_requirements() -> None:
    record = bought(SCENARIOS["block"]()).record
    assert (record.region, record.zone_ids) == ("us-east-2", ("use2-az3",))
    assert (record.start, record.end) == (START + timedelta(days=10), START + timedelta(days=24))
    assert len(record.reservation_ids) == 1


@pytest.mark.parametrize(
    ("world", "code"),
    [
        (World(), "UC7020"),
        (world_of([block_order(expires_at=START)]), "UC7024"),
        (world_of([block_order(account="999999999999")]), "UC7026"),
        (world_of([block_order(max_fee=Decimal(99))]), "UC7027"),
        (world_of([block_order()], offerings=()), "UC7027"),
        (world_of([block_order()], clock_ahead=timedelta(minutes=5, seconds=2)), "UC7030"),
        (world_of([block_order()], confirmed=False), "UC7034"),
        (world_of([block_order()], choose_fault=strike(DryRun, "refused-4xx")), "UC7031"),
        (world_of([block_order()], choose_fault=strike(DryRun, "answers-normally")), "UC7047"),
        (world_of([block_order()], choose_fault=strike(Identify, "refused-4xx")), "UC7035"),
        (world_of([block_order()], choose_fault=strike(LISTINGS, "refused-4xx")), "UC7035"),
        (world_of([block_order()], choose_fault=strike(LISTINGS, "throttle")), "UC7035"),
        (world_of([block_order()], choose_fault=strike(Advance, "lost-request")), "UC7035"),
        (world_of([block_order()], locks={"cluster/ohio": "january"}), "UC7032"),
        (world_of([block_order()], months={"123456789012#USD#2026-11": Decimal("57758.35")}), "UC7033"),
    ],
)
def test_refuses_to_buy(world: World, code: str) -> None:
    assert refused(world) == code
    assert world.sends == {}


def test_a_clock_just_within_five_minutes_buys() -> None:
    assert bought(
        world_of([block_order()], clock_ahead=timedelta(minutes=4, seconds=59))
    ).record.reservation_ids


def test_a_cap_of_the_month_that_just_holds_buys() -> None:
    world = world_of([block_order()], months={"123456789012#USD#2026-11": Decimal("57758.34")})
    assert bought(world).record.reservation_ids


def test_refuses_terms_that_were_edited() -> None:
    world = world_of([block_order()])
    world.records["december"] = replace(world.records["december"], order=block_order(count=32))
    assert refused(world) == "UC7025"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"reservation_id": "cr-00000000000000001"}, "not there"),
        ({"expected_end": OWNED_END + timedelta(days=1)}, "not 2026-12-01"),
        ({"extension_hours": 182 * 24}, "longer than 182 days"),
    ],
)
def test_refuses_to_extend_a_block_that_is_not_as_expected(changes: dict[str, Any], problem: str) -> None:
    world = world_of([extension_order(**changes)])
    result = start(world, "longer", "nonce").run()
    assert isinstance(result, FindingsError)
    assert result.findings[0].code == "UC7028"
    assert problem in str(result)


@pytest.mark.parametrize(
    ("before_end", "sold"), [(timedelta(hours=1, minutes=1), True), (timedelta(minutes=59), False)]
)
def test_extends_until_an_hour_before_the_end(before_end: timedelta, *, sold: bool) -> None:
    world = world_of([extension_order(expires_at=OWNED_END)])
    world.now = OWNED_END - before_end
    if sold:
        assert bought(world, "longer").record.reservation_ids == (OWNED,)
    else:
        assert refused(world, "longer") == "UC7028"


def test_refuses_a_second_extension_while_the_first_waits_for_its_payment() -> None:
    world = world_of([extension_order(), extension_order(name="longer-too")])
    bought(world, "longer")
    world.extension_end = OWNED_END  # as EC2 shows it until the payment has cleared
    assert refused(world, "longer-too") == "UC7029"


def test_lists_all_reservations_while_the_payment_is_pending() -> None:
    world = SCENARIOS["segmented"]()
    world.choose_fault = strike(Send, "lost-reply-after")
    start(world, "december", "nonce").run()
    world.choose_fault = None
    world.pass_time(timedelta(minutes=5))
    record = reconciled(world).record
    assert record.state is OrderState.PURCHASED
    assert len(record.reservation_ids) == 3
    assert {state.partition("=")[2] for state in record.ec2_states} == {"payment-pending"}


def test_sees_the_payment_clear_and_frees_the_lock() -> None:
    world = SCENARIOS["block"]()
    bought(world)
    assert world.locks == {"cluster/ohio": "december"}
    world.pass_time(PAYMENT)
    assert reconciled(world).record.state is OrderState.PAID
    assert world.locks == {}
    assert list(world.months.values()) == [Decimal("192241.66")]


def test_a_failed_payment_is_final_and_gives_the_money_back() -> None:
    world = SCENARIOS["payment-fails"]()
    bought(world)
    world.pass_time(PAYMENT)
    outcome = reconciled(world)
    assert outcome.record.state is OrderState.FAILED
    assert [finding.code for finding in outcome.findings] == ["UC7038"]
    assert set(world.months.values()) == {Decimal(0)}
    bought_again = start(world, "december", "again").run()
    assert bought_again.record.state is OrderState.FAILED
    assert world.sends == {"december": 1}


def test_a_refusal_is_final() -> None:
    world = world_of([block_order()], choose_fault=strike(Send, "refused-4xx"))
    outcome = bought(world)
    assert outcome.record.state is OrderState.REJECTED
    assert [finding.code for finding in outcome.findings] == ["UC7039"]
    assert set(world.months.values()) == {Decimal(0)}


@pytest.mark.parametrize(("minutes", "state"), [(29, OrderState.SENDING), (31, OrderState.UNKNOWN)])
def test_gives_an_order_without_a_trace_to_a_person_after_thirty_minutes(
    minutes: int, state: OrderState
) -> None:
    world = world_of([block_order()], choose_fault=strike(Send, "lost-request"))
    outcome = bought(world)
    assert outcome.record.state is OrderState.SENDING
    assert [finding.code for finding in outcome.findings] == ["UC7036"]
    world.pass_time(timedelta(minutes=minutes))
    later = reconciled(world)
    assert later.record.state is state
    assert [finding.code for finding in later.findings] == [
        "UC7037" if state is OrderState.UNKNOWN else "UC7036"
    ]
    assert timedelta(minutes=30) == UNKNOWN_AFTER


def unknown() -> World:
    world = world_of([block_order()], choose_fault=strike(Send, "lost-request"))
    bought(world)
    world.choose_fault = None
    world.pass_time(timedelta(minutes=31))
    reconciled(world)
    return world


def test_a_person_closes_an_unknown_order_on_evidence() -> None:
    world = unknown()
    outcome = Process(
        world, "december", close("december", evidence="CloudTrail: no PurchaseCapacityBlock")
    ).run()
    assert outcome.record.state is OrderState.CLOSED
    assert "CloudTrail" in outcome.record.reason
    assert world.locks == {}
    assert set(world.months.values()) == {Decimal(0)}


def test_nobody_closes_an_order_without_evidence() -> None:
    assert refused(unknown(), steps=close("december", evidence="  ")) == "UC7044"


def test_nobody_closes_an_order_that_is_not_unknown() -> None:
    assert refused(SCENARIOS["block"](), steps=close("december", evidence="x")) == "UC7023"


def test_a_closed_order_that_turns_up_after_all_is_written_down() -> None:
    world = unknown()
    Process(world, "december", close("december", evidence="none seen")).run()
    request = next(effect.request for effect in world.calls if isinstance(effect, Send))
    world.execute(request, timedelta(0), "december")
    assert reconciled(world).record.state is OrderState.PURCHASED
    assert list(world.months.values()) == [Decimal("192241.66")]


def test_an_approval_can_be_taken_back_before_it_is_used() -> None:
    world = SCENARIOS["block"]()
    assert Process(world, "december", cancel("december")).run().record.state is OrderState.REVOKED
    assert refused(world) == "UC7023"
    assert world.sends == {}


def test_a_capacity_block_cannot_be_cancelled() -> None:
    world = SCENARIOS["block"]()
    bought(world)
    assert refused(world, steps=cancel("december")) == "UC7040"


def test_an_order_under_way_cannot_be_cancelled() -> None:
    assert refused(unknown(), steps=cancel("december")) == "UC7023"


@pytest.mark.parametrize(
    ("reply", "code"), [(Refused("UnauthorizedOperation", "no"), "UC7031"), (Unclear("lost"), "UC7035")]
)
def test_a_cancellation_that_aws_did_not_confirm_is_no_cancellation(reply: Any, code: str) -> None:
    world = world_of([on_demand_order()])
    bought(world, "reserve")
    steps = cancel("reserve")
    with pytest.raises(FindingsError, match=code):
        _answer(steps, world, reply)
    assert world.records["reserve"].state is OrderState.PURCHASED


def test_a_reservation_on_demand_can_be_given_back() -> None:
    world = world_of([on_demand_order()])
    bought(world, "reserve")
    outcome = _answer(cancel("reserve"), world, Committed())
    assert outcome.record.state is OrderState.CANCELLED
    assert world.locks == {}


def _answer(steps: Any, world: World, reply_to_cancelling: Any) -> Outcome:
    # The simulator has no cancellation, so this answers it.
    reply: Any = None
    process = Process(world, "reserve", steps)
    while True:
        try:
            effect = steps.send(reply)
        except StopIteration as stop:
            outcome: Outcome = stop.value
            return outcome
        cancelling = isinstance(effect, CancelReservation)
        reply = reply_to_cancelling if cancelling else world.perform(effect, process)


def test_shows_untagged_reservations_that_resemble_an_unknown_order() -> None:
    world = unknown()
    request = next(effect.request for effect in world.calls if isinstance(effect, Send))
    world.execute(replace(request, order_name=None), timedelta(0), "nobody")
    (finding,) = reconciled(world).findings
    assert finding.code == "UC7037"
    assert world.bought[0].ids[0] in finding.problem
