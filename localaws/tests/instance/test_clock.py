"""The clock that blocks follow."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ultracluster_local.instance.clock import Clock


def test_follows_real_time_until_it_is_set_and_again_afterwards() -> None:
    clock = Clock()
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    clock.set(datetime(2030, 1, 1, tzinfo=UTC))
    assert clock.now() == datetime(2030, 1, 1, tzinfo=UTC)
    clock.advance(timedelta(hours=2))
    assert clock.now() == datetime(2030, 1, 1, 2, tzinfo=UTC)
    clock.follow_real_time()
    assert clock.now().year != 2030


def test_times_of_any_zone_are_returned_in_utc() -> None:
    clock = Clock()
    clock.set(datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == datetime(2030, 1, 1, tzinfo=UTC)
    assert clock.now().tzinfo is UTC


def test_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="with a time zone"):
        Clock().set(datetime(2030, 1, 1))  # noqa: DTZ001 - what is refused
