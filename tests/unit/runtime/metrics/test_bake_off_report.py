"""The weekly report of a bake-off."""

from datetime import date
from decimal import Decimal

import pytest

from ultracluster_catalog.prices.prices import Price
from ultracluster_runtime.metrics.bake_off_report import (
    Candidate,
    Result,
    Samples,
    Week,
    compare_weeks,
    weeks_until,
)

MONDAY = date(2026, 11, 16)
RATE = "tokens_per_second"


def price(amount: str | None) -> Price:
    reason = "" if amount else "no list price"
    return Price(
        amount=None if amount is None else Decimal(amount),
        unit="instance-hour",
        source="list",
        dated=MONDAY,
        reason=reason,
    )


FIRST = Candidate(name="trn2", nodes=2, price=price("18"))
SECOND = Candidate(name="p5", nodes=1, price=price("72"))


def week(first: Samples | None, second: Samples | None, *, figure: str = RATE, today: date = MONDAY) -> Week:
    samples = {"trn2": first, "p5": second}
    reports = {(MONDAY, figure, name): value for name, value in samples.items() if value is not None}
    (only,) = compare_weeks(
        reports, mondays=[MONDAY], figures=[figure], candidates=[FIRST, SECOND], today=today
    )
    return only


def test_a_week_begins_on_monday() -> None:
    assert weeks_until(date(2026, 11, 22), 1) == [MONDAY]  # a Sunday
    assert weeks_until(MONDAY, 2) == [date(2026, 11, 9), MONDAY]


def test_candidates_are_compared_with_the_first_per_second_and_per_dollar() -> None:
    (figure,) = week(Samples(total=100.0, count=10), Samples(total=60.0, count=3)).figures

    # 10 and 20 tokens per second at 36 and 72 USD per hour.
    assert figure.reached == {
        "trn2": Result(mean=10.0, count=10, ratio=1.0, per_dollar=1000.0, ratio_per_dollar=1.0),
        "p5": Result(mean=20.0, count=3, ratio=2.0, per_dollar=1000.0, ratio_per_dollar=1.0),
    }


def test_metrics_other_than_rates_have_no_amount_per_dollar() -> None:
    (figure,) = week(Samples(total=4.0, count=2), Samples(total=3.0, count=1), figure="loss").figures

    assert figure.reached["p5"] == Result(
        mean=3.0, count=1, ratio=1.5, per_dollar=None, ratio_per_dollar=None
    )


@pytest.mark.parametrize("first", [None, Samples(total=0.0, count=5)])
def test_nothing_is_relative_to_a_baseline_without_a_value(first: Samples | None) -> None:
    (figure,) = week(first, Samples(total=3.0, count=1)).figures
    second = figure.reached["p5"]

    assert second is not None
    assert (second.mean, second.ratio, second.ratio_per_dollar) == (3.0, None, None)
    assert (figure.reached["trn2"] is None) == (first is None)


@pytest.mark.parametrize(("today", "over"), [(date(2026, 11, 22), False), (date(2026, 11, 23), True)])
def test_week_is_over_on_the_next_monday(today: date, over: bool) -> None:
    only = week(None, None, today=today)

    assert only.last == date(2026, 11, 22)
    assert only.over is over


@pytest.mark.parametrize(
    "candidate", [Candidate(name="a", price=price("1")), Candidate(name="a", nodes=1, price=price(None))]
)
def test_cost_is_unknown_without_nodes_or_price(candidate: Candidate) -> None:
    assert candidate.usd_per_hour is None
    assert FIRST.usd_per_hour == 36
