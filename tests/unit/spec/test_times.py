"""Times are read as UTC."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ultracluster_spec.findings import FindingsError
from ultracluster_spec.times import read_utc


def test_takes_times_of_python_in_any_zone_and_keeps_utc() -> None:
    two_hours_east = datetime(2026, 12, 1, 14, 0, tzinfo=timezone(timedelta(hours=2)))

    assert read_utc(two_hours_east) == datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
    assert read_utc(two_hours_east).tzinfo is UTC
    with pytest.raises(FindingsError, match="in UTC"):
        read_utc(datetime(2026, 12, 1, 12, 0))  # noqa: DTZ001 - the mistake that this is about


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2026-02-30T11:30:00Z", "does not exist"),
        ("2026-12-01", "Add the time"),
        ("2026-12-01 11:30", "Write T"),
        ("December", "Convert it"),
    ],
)
def test_says_how_to_write_a_time(text: str, says: str) -> None:
    with pytest.raises(FindingsError, match=f"UC4111.*{says}"):
        read_utc(text)


def test_leaves_what_is_no_time_to_others() -> None:
    assert read_utc(7) == 7
