"""Evaluation of zones, and of the instance types that they offer."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER

from ultracluster_runtime.preflight import zones
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_spec.capacity import AdditionalCapacity, CapacityRecord

VISIBLE, OFFERED = checks_of(zones)
ZONE = {"ZoneName": "us-east-2c", "State": "available", "OptInStatus": "opt-in-not-required"}


@pytest.mark.parametrize(
    ("zones", "status", "words"),
    [
        ({"use2-az1": ZONE, "use2-az2": ZONE}, Status.FAIL, "it has use2-az1, use2-az2"),
        ({"use2-az3": ZONE | {"OptInStatus": "not-opted-in"}}, Status.FAIL, "not opted in"),
        ({"use2-az3": ZONE | {"State": "impaired"}}, Status.FAIL, "use2-az3 is impaired"),
    ],
)
def test_zone_must_be_visible_opted_in_and_available(
    zones: dict[str, Any], status: Status, words: str
) -> None:
    outcome = VISIBLE.evaluate(CLUSTER, zones)

    assert outcome.status is status
    assert words in outcome.evidence


@pytest.mark.parametrize(
    ("markets", "zones", "status"),
    [
        (("capacity-block",), ["use2-az1"], Status.WARN),
        (("capacity-block", "on-demand"), [], Status.FAIL),
    ],
)
def test_only_blocks_are_sold_where_the_type_is_not_listed(
    markets: tuple[Any, ...], zones: list[str], status: Status
) -> None:
    first, *rest = (CapacityRecord(market_type=market) for market in markets)
    more = tuple(AdditionalCapacity(name="more", **capacity.known()) for capacity in rest)
    cluster = replace(CLUSTER, capacity=first, additional_capacity=more)

    assert OFFERED.evaluate(cluster, zones).status is status
