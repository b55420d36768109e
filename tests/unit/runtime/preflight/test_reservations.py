"""Checks of reservations."""

from datetime import datetime, timedelta

import pytest
from tests.unit.runtime.preflight.preflight_cases import NOW, bought, source

from ultracluster_runtime.preflight import reservations
from ultracluster_runtime.preflight.check import (
    Status,
    checks_of,
)

SOURCE = source()
_, _, _, _, COUNT, STATE, WINDOW, *_ = checks_of(reservations)


def test_a_block_that_has_not_started_shows_its_size_in_a_tag() -> None:
    tag = {"Key": "aws:ec2capacityreservation:incrementalRequestedQuantity", "Value": "4"}
    shown = {"State": "scheduled", "TotalInstanceCount": 0, "Tags": [tag]}
    assert COUNT.evaluate(SOURCE, shown).status is Status.PASS
    assert COUNT.evaluate(SOURCE, {**shown, "Tags": []}).status is Status.FAIL
    assert COUNT.evaluate(SOURCE, {"State": "active", "TotalInstanceCount": 5}).status is Status.WARN


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (NOW, Status.FAIL),
        (NOW + timedelta(hours=11, minutes=59), Status.WARN),
        (NOW + timedelta(hours=12), Status.PASS),
        (None, Status.PASS),
    ],
)
def test_past_window_fails_and_short_window_warns(end: datetime | None, status: Status) -> None:
    shown = {"StartDate": NOW - timedelta(days=1), "EndDate": end}
    assert WINDOW.evaluate(SOURCE, (shown, NOW)).status is status


def test_times_in_the_rollout_may_differ_by_less_than_a_minute() -> None:
    start = NOW + timedelta(days=1)
    shown = {"StartDate": start, "EndDate": start + timedelta(days=1)}
    near, far = start + timedelta(seconds=59), start + timedelta(seconds=60)
    assert WINDOW.evaluate(source(bought(start=near)), (shown, NOW)).status is Status.PASS
    assert WINDOW.evaluate(source(bought(start=far)), (shown, NOW)).status is Status.FAIL


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("active", Status.PASS),
        ("scheduled", Status.PASS),
        ("payment-pending", Status.WARN),
        ("delayed", Status.WARN),
        ("payment-failed", Status.FAIL),
        ("expired", Status.FAIL),
        ("a state of tomorrow", Status.FAIL),
    ],
)
def test_only_usable_reservations_pass(state: str, status: Status) -> None:
    assert STATE.evaluate(SOURCE, {"State": state}).status is status
