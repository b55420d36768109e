"""Figures that the rules of advice share."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

from tests.unit.runtime.advice.advice_recordings import SUBJECT, reporting
from tests.unit.runtime.metrics.recordings import recording

from ultracluster_catalog.prices.prices import Price
from ultracluster_runtime.advice.subject import cost_of_nodes, mean_nodes


def test_mean_nodes_is_per_minute_and_not_per_period() -> None:
    assert mean_nodes(recording(reporting(nodes=3))) == 3
    assert mean_nodes(recording()) is None


def test_cost_of_nodes_is_that_of_730_hours_in_whole_dollars() -> None:
    assert cost_of_nodes(SUBJECT, 2) == (Decimal(14600), "")
    assert cost_of_nodes(SUBJECT, 0.5) == (Decimal(3650), "")


def test_unknown_cost_has_a_reason() -> None:
    unknown = Price(
        amount=None, unit="instance-hour", source="the test", dated=date(2026, 11, 21), reason="no list price"
    )

    assert cost_of_nodes(SUBJECT, None) == (None, "NodesReporting was not recorded")
    assert cost_of_nodes(replace(SUBJECT, node_hour=unknown), 2) == (None, "no list price")
