"""A line of a bill, by hour, run and month."""

from decimal import Decimal

from tests.unit.stacks.cost.estimates import estimate, names


def test_a_month_has_nodes_in_the_hours_of_its_runs_and_all_else_at_all_times() -> None:
    found = estimate(runs_per_month=3)
    lines = names(found)

    assert lines["nodes"].month(found.usage).low == 2 * Decimal("9.532") * 72
    assert lines["endpoints"].month(found.usage).text() == "65.70"
    assert lines["file system"].month(found.usage).text() == "174.00"


def test_nodes_of_a_run_that_is_longer_than_a_month_are_paid_for_a_month() -> None:
    found = estimate(hours=Decimal(1000))

    assert names(found)["nodes"].month(found.usage).low == 2 * Decimal("9.532") * 730
    assert names(found)["nodes"].run(found.usage).low == 2 * Decimal("9.532") * 1000


def test_an_hour_without_a_run_still_costs_what_stands() -> None:
    found = estimate()

    assert found.idle_hour.text() == "0.33"  # 1200 x 0.145 / 730 + 9 x 0.01 + 0.10 / 730
    assert found.hour.low - found.idle_hour.low > 2 * Decimal("9.532")
