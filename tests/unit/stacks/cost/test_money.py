from decimal import Decimal

import pytest

from ultracluster_stacks.cost import NOTHING, Money


def money(low: str, high: str, *without: str) -> Money:
    return Money(low=Decimal(low), high=Decimal(high), without=without)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (money("1234.565", "1234.565"), "1,234.57"),
        (money("1", "2.5"), "1.00 to 2.50"),
        (money("0", "0"), "0.00"),
        (money("0", "0", "file system"), "not known"),
        (money("3", "3", "file system"), "3.00"),
    ],
)
def test_shows_an_amount_a_range_or_that_it_is_not_known(amount: Money, text: str) -> None:
    assert amount.text() == text


def test_a_sum_adds_both_ends_and_names_once_what_it_leaves_out() -> None:
    total = Money.total([money("1", "2", "logs"), money("10", "10", "logs", "buckets"), NOTHING])

    assert total == money("11", "12", "logs", "buckets")
    assert total * 3 == money("33", "36", "logs", "buckets")
