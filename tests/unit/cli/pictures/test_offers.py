"""Offerings by start, length and price."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from tests.unit.cli.pictures.elements import problems_of, texts_of
from tests.unit.runtime.purchasing.example_orders import offering
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_cli.pictures.offers import draw_offers
from ultracluster_runtime.purchasing.offerings import Offering


def offerings(count: int, *, spots: int = 9, **more: object) -> list[Offering]:
    return [
        offering(
            offering_id=f"cb-{number}",
            start=START + timedelta(days=number % spots),
            end=START + timedelta(days=number % spots + 1 + number % spots % 14),
            duration=timedelta(days=1 + number % spots % 14),
            fee=Decimal(20000 * (1 + number % spots)),
            **more,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(("count", "spots"), [(1, 1), (9, 9), (144, 9), (144, 144)])
def test_any_number_of_offerings_can_be_read(count: int, spots: int) -> None:
    drawn = draw_offers(offerings(count, spots=spots)).svg()

    assert f"{count} Capacity Block offerings, the best first" in texts_of(drawn)
    assert problems_of(drawn) == []


def test_the_best_is_marked_and_the_list_price_is_a_line() -> None:
    drawn = draw_offers(offerings(144)).svg()

    assert [text for text in texts_of(drawn) if text.startswith("best: ")] == [
        "best: use2-az3, 1 day (16 offerings)"
    ]
    assert drawn.count("<polygon") == 9  # one mark for all offerings of the same start, length and price
    assert "list price 2.235" in texts_of(drawn)
    assert 'stroke-dasharray="6 3"' in drawn


def test_rows_beyond_the_thirtieth_are_counted() -> None:
    assert "and 114 more rows: --json has every offering" in texts_of(
        draw_offers(offerings(144, spots=144)).svg()
    )


def test_a_type_without_a_price_of_chips_and_a_long_zone_are_drawn() -> None:
    strange = [replace(offer, instance_type="z9.large", zone="z" * 60, zone_ids=()) for offer in offerings(3)]
    assert problems_of(draw_offers(strange).svg()) == []


def test_no_offerings_are_a_sentence() -> None:
    assert "No offerings found." in texts_of(draw_offers([]).svg())
