"""Scenarios that no single fault leads to; each must end without a (second) purchase."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.unit.runtime.purchasing.example_orders import block_order, extension_order
from tests.unit.runtime.purchasing.faults import LISTINGS
from tests.unit.runtime.purchasing.invariants import Violation, check, check_settled
from tests.unit.runtime.purchasing.scenarios import SCENARIOS, reconcile_all, simulate, start
from tests.unit.runtime.purchasing.simulation import CLEAR, OWNED_END, START, Process, Simulation

from ultracluster_runtime.purchasing.effects import Send
from ultracluster_runtime.purchasing.operator_actions import close
from ultracluster_runtime.purchasing.orders import OrderState
from ultracluster_runtime.purchasing.reconcile import reconcile
from ultracluster_spec.findings import FindingsError


def _nothing_may_be_sent(simulation: Simulation, why: str) -> None:
    for name in sorted(simulation.records):
        start(simulation, name, "nonce").run()
    if simulation.sends:
        raise Violation(f"I6: sent although {why}")
    reconcile_all(simulation)
    check_settled(simulation)


def _first_pages_empty(effect: Any) -> str:
    return "empty-page" if isinstance(effect, LISTINGS) and effect.page is None else ""


def run_special_scenarios() -> None:
    """Lives that no single fault leads to: each must end without a (second) purchase, also when pages are empty."""
    _lives_that_must_not_buy()
    for choose_fault in (None, _first_pages_empty):
        _life_with_a_lost_ledger(choose_fault)
        _life_with_a_pending_extension(choose_fault)
        _life_that_is_closed_too_early(choose_fault)
    for make in SCENARIOS.values():
        _life_with_a_refusal_of_what_was_bought(make())
    segmented = SCENARIOS["segmented"]()
    start(segmented, "december", "nonce").run()
    if len(segmented.records["december"].reservation_ids) != segmented.segments:
        raise Violation("a reservation that AWS named was not written down")


def _lives_that_must_not_buy() -> None:
    expired = simulate([block_order(expires_at=START + timedelta(seconds=1))])
    _nothing_may_be_sent(expired, "the approval expired")
    for ahead in (timedelta(minutes=2), timedelta(minutes=-2), timedelta(days=1)):
        _nothing_may_be_sent(simulate([block_order()], clock_ahead=ahead), f"the clock is {ahead} off")
    _nothing_may_be_sent(simulate([block_order()], confirmed=False), "nobody confirmed")
    _nothing_may_be_sent(simulate([block_order(account="999999999999")]), "the account is another one")
    _nothing_may_be_sent(simulate([block_order(max_fee=Decimal(99))]), "every offer is above the cap")
    _nothing_may_be_sent(
        simulate([extension_order(expected_end=OWNED_END - timedelta(days=1))]),
        "the block ends at another time",
    )
    _nothing_may_be_sent(simulate([block_order()], while_confirming=_raise_fees), "the fee rose")
    _nothing_may_be_sent(simulate([extension_order()], while_confirming=_raise_fees), "the fee rose")
    _nothing_may_be_sent(
        simulate([block_order()], while_confirming=lambda world: world.pass_time(timedelta(minutes=11))),
        "the confirmation took 11 minutes",
    )
    edited = simulate([block_order()])
    record = edited.records["december"]
    edited.records["december"] = replace(record, order=replace(block_order(), max_fee=Decimal(240000)))
    start(edited, "december", "nonce").run()
    if edited.sends:
        raise Violation("I6: sent although the ledger was edited")


def _raise_fees(world: Simulation) -> None:
    world.offerings = tuple(replace(item, fee=item.fee + 1) for item in world.offerings)
    world.extension_fee += 1


ChooseFault = Callable[[Any], str] | None


def _life_with_a_lost_ledger(choose_fault: ChooseFault) -> None:
    lost = simulate([block_order()])
    start(lost, "december", "nonce").run()
    lost.pass_time(CLEAR)
    lost.choose_fault = choose_fault
    lost.records, lost.locks, lost.months = {}, {}, {}
    result = start(lost, "december", "nonce-again").run()
    if not isinstance(result, FindingsError) or lost.sends["december"] > 1:
        raise Violation("I8: the ledger was lost and the order went on")
    lost.approve(block_order())
    start(lost, "december", "nonce-third").run()
    check(lost)
    if not lost.records["december"].reservation_ids:
        raise Violation("I8: the earlier purchase was not taken into the new ledger")


def _life_with_a_pending_extension(choose_fault: ChooseFault) -> None:
    pending = simulate([extension_order(name="first"), extension_order(name="second", cluster="other")])
    start(pending, "first", "nonce").run()
    pending.extension_end = OWNED_END  # as EC2 shows it until the payment has cleared
    pending.records["first"] = replace(pending.records["first"], holds_lock=False)
    pending.locks = {}  # as if another tool had bought it
    pending.choose_fault = choose_fault
    start(pending, "second", "nonce").run()
    if pending.sends.get("second"):
        raise Violation("an extension was sent while another one waits for its payment")


def _life_with_a_refusal_of_what_was_bought(simulation: Simulation) -> None:
    """EC2 executes the request, something on the way refuses it, and EC2 shows the purchase late."""
    faults = {Send: "refused-4xx-after"} | dict.fromkeys(LISTINGS, "stale")
    simulation.choose_fault = lambda effect: faults.get(type(effect), "")
    (name,) = simulation.records
    start(simulation, name, "nonce").run()
    reconcile_all(simulation)
    check_settled(simulation)


def _life_that_is_closed_too_early(choose_fault: ChooseFault) -> None:
    simulation = simulate([block_order()])
    simulation.choose_fault = lambda effect: "late-after" if isinstance(effect, Send) else ""
    start(simulation, "december", "nonce").run()
    simulation.pass_time(timedelta(minutes=5))
    simulation.choose_fault = lambda effect: "stale" if isinstance(effect, LISTINGS) else ""
    simulation.pass_time(timedelta(minutes=40))
    Process(simulation, "december", reconcile("december")).run()
    if simulation.records["december"].state is not OrderState.UNKNOWN:
        raise Violation(f"without a trace for 45 minutes and {simulation.records['december'].state}")
    simulation.pass_time(CLEAR)
    simulation.choose_fault = choose_fault
    Process(
        simulation, "december", close("december", evidence="a look at CloudTrail that came too early")
    ).run()
    reconcile_all(simulation)
    check_settled(simulation)
