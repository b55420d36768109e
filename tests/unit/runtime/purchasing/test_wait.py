"""An order that waits for its offering: in simulated markets with faults, it buys at most once, within cap and time."""

import random
import statistics
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import block_order, offering
from tests.unit.runtime.purchasing.faults import faults_of
from tests.unit.runtime.purchasing.invariants import check, check_settled
from tests.unit.runtime.purchasing.scenarios import reconcile_all
from tests.unit.runtime.purchasing.simulation import START, Process, Simulation

from ultracluster_runtime.purchasing.ec2_objects import Request
from ultracluster_runtime.purchasing.effects import DescribeOfferings, Refused, Sleep
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.purchasing.orders import BlockOrder, OrderState
from ultracluster_runtime.purchasing.quotes import violated_terms
from ultracluster_runtime.purchasing.reconcile import Outcome
from ultracluster_runtime.purchasing.wait import buy_when_offered
from ultracluster_spec.findings import FindingsError

EVERY = timedelta(minutes=5)
FEW, MANY = 30, 1000


@dataclass
class Market(Simulation):
    """A simulation in which offerings come, change their price and go."""

    plan: tuple[tuple[datetime, tuple[Offering, ...]], ...] = ()

    @property
    def current(self) -> tuple[Offering, ...]:
        """What is on offer now; `offerings` has everything for the checks."""
        return [offers for due, offers in self.plan if due <= self.now][-1]

    def _listing(self, effect: Any, *, stale: bool) -> list[Any]:
        if isinstance(effect, DescribeOfferings):
            return [*self.current]
        return super()._listing(effect, stale=stale)

    def perform(self, effect: Any, process: Process) -> Any:
        if isinstance(effect, Sleep):  # a new attempt begins, which reads everything that it needs by itself
            process.unread.clear()
        return super().perform(effect, process)

    def execute(self, request: Request, lag: timedelta, name: str) -> Any:
        if not any(offer.offering_id == getattr(request, "offering_id", "") for offer in self.current):
            return Refused("InvalidParameterValue", "the offering is gone")
        return super().execute(request, lag, name)


def _order(**changes: Any) -> BlockOrder:
    return block_order(min_count=4, zone_ids=(), **changes)


def _waited(market: Simulation) -> Any:
    return Process(market, "december", buy_when_offered("december", nonce="nonce", every=EVERY)).run()


def _market(*plan: tuple[timedelta, tuple[Offering, ...]], **settings: Any) -> Market:
    """A market with one approved order, and what is on offer from which time."""
    world = Market(
        plan=((START, ()), *((START + after, offers) for after, offers in plan)),
        offerings=tuple(offer for _, offers in plan for offer in offers),
        **settings,
    )
    world.approve(_order())
    return world


def test_buys_the_first_offering_that_fits_soon_after_it_appears() -> None:
    market = _market((timedelta(0), (offering(fee=Decimal(210000)),)), (timedelta(hours=3), (offering(),)))

    assert isinstance(_waited(market), Outcome)
    (bought,) = market.bought
    assert timedelta(0) <= bought.at - START - timedelta(hours=3) <= EVERY + timedelta(minutes=1)


def test_buys_the_largest_block_that_is_on_offer() -> None:
    small, large = (
        offering(offering_id=f"cb-{count}", instance_count=count, fee=Decimal(fee))
        for count, fee in ((4, 50000), (8, 99000))
    )
    market = _market((timedelta(0), (small, large)))

    outcome = _waited(market)
    assert outcome.record.offering_id == "cb-8"
    assert outcome.record.count == 8


def test_searches_for_powers_of_two_below_the_largest() -> None:
    assert block_order(count=16).counts == (16,)
    assert block_order(count=16, min_count=4).counts == (16, 8, 4)
    assert block_order(count=12, min_count=3).counts == (12, 8, 4, 3)
    assert block_order(count=1, min_count=1).counts == (1,)


def test_nothing_is_bought_when_the_approval_expires_first() -> None:
    market = _market((timedelta(days=2), (offering(),)))

    refusal = _waited(market)
    assert isinstance(refusal, FindingsError)
    assert [finding.code for finding in refusal.findings] == ["UC7024"]
    assert market.now - (START + timedelta(days=2)) < timedelta(minutes=1)
    assert market.bought == []


def test_another_refusal_ends_the_wait() -> None:
    market = _market((timedelta(0), (offering(),)), confirmed=False)

    refusal = _waited(market)
    assert isinstance(refusal, FindingsError)
    assert [finding.code for finding in refusal.findings] == ["UC7034"]


def _random_market(chance: random.Random) -> Market:
    """Offerings that appear for a while, at prices around the cap and in sizes around the wanted ones."""
    plan: list[tuple[timedelta, tuple[Offering, ...]]] = []
    at = timedelta(0)
    for number in range(chance.randrange(1, 12)):
        at += timedelta(minutes=chance.expovariate(1 / 240))
        offers = tuple(
            offering(
                offering_id=f"cb-{number}-{each}",
                instance_count=chance.choice([2, 4, 8, 16, 32]),
                fee=Decimal(chance.choice([90000, 190000, 200000, 200001, 260000])),
                start=START + timedelta(days=chance.choice([-1, 3, 10, 40])),
            )
            for each in range(chance.randrange(3))
        )
        offers = tuple(replace(offer, end=offer.start + offer.duration) for offer in offers)
        plan.append((at, offers))
    rate = chance.choice([0, 0.01, 0.1])
    faults = lambda effect: (  # noqa: E731 - closes over the seed
        chance.choice(faults_of(effect)) if faults_of(effect) and chance.random() < rate else ""
    )
    return _market(*plan, choose_fault=faults)


def _live(seed: int) -> timedelta | None:
    """Let an order wait in one market; return the time from the first fitting offering to its purchase."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    market = _random_market(chance)
    order = market.records["december"].order
    assert isinstance(order, BlockOrder)
    for _ in range(4):  # a process that dies is started again
        result = _waited(market)
        check(market)
        if result is not None:
            break
    known = {offer.offering_id: offer for offer in market.offerings}
    for bought in market.bought:
        assert violated_terms(order, known[bought.request.offering_id]) == []  # type: ignore[union-attr]
        assert bought.at < order.expires_at
    first = next(
        (due for due, offers in market.plan if any(not violated_terms(order, each) for each in offers)), None
    )
    reconcile_all(market)
    check_settled(market)
    record = market.records["december"]
    if record.state is OrderState.APPROVED:
        assert market.bought == []
    assert len(market.bought) <= 1
    return market.bought[0].at - first if market.bought and first else None


@pytest.mark.slow
@pytest.mark.parametrize("markets", [FEW, pytest.param(MANY, marks=pytest.mark.deep)])
def test_no_market_makes_an_order_buy_twice_above_its_cap_or_late(markets: int) -> None:
    waits = [wait / timedelta(minutes=1) for seed in range(markets) if (wait := _live(seed)) is not None]
    assert len(waits) > markets / 5
    print(  # noqa: T201 - the figures of `pytest -rP`
        f"{markets} markets, {len(waits)} purchases: {statistics.median(waits):.1f} minutes from the first fitting "
        f"offering to the purchase in the middle, {max(waits):.0f} at most"
    )
