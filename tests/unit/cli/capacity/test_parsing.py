"""Values of options are read, or refused with their code."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from ultracluster_cli.capacity import parsing as capacity_input
from ultracluster_rules.findings import FindingsError


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        ("2026-12-01T11:30:00Z", datetime(2026, 12, 1, 11, 30, tzinfo=UTC)),
        ("2026-12-01T12:30:00+01:00", datetime(2026, 12, 1, 11, 30, tzinfo=UTC)),
    ],
)
def test_reads_a_day_or_a_time(text: str, time: datetime) -> None:
    assert capacity_input.read_time("--end", text) == time


@pytest.mark.parametrize(
    ("read", "code"),
    [
        (lambda: capacity_input.read_time("--end", "2026-12-01T11:30:00"), "UC7008"),
        (lambda: capacity_input.read_time("--end", "tomorrow"), "UC7008"),
        (lambda: capacity_input.read_range("--nodes", "14-7"), "UC7011"),
        (lambda: capacity_input.read_range("--nodes", "0"), "UC7011"),
        (lambda: capacity_input.read_range("--nodes", "1-99999999"), "UC7011"),
        (lambda: capacity_input.read_range("--nodes", "\u0661"), "UC7011"),
        (lambda: capacity_input.read_range("--nodes", "-3"), "UC7011"),
        (lambda: capacity_input.read_days("15-20"), "UC7013"),
        (lambda: capacity_input.read_fee("--max-fee", "50k"), "UC7006"),
        (lambda: capacity_input.read_fee("--max-fee", "190,000"), "UC7006"),
        (lambda: capacity_input.read_fee("--max-fee", "-1"), "UC7006"),
        (lambda: capacity_input.read_fee("--max-fee", "1e5"), "UC7006"),
        (lambda: capacity_input.read_fee("--max-fee", "NaN"), "UC7006"),
        (lambda: capacity_input.read_fee("--max-fee", ""), "UC7006"),
    ],
)
def test_rejects_unparsable_values(read: Callable[[], Any], code: str) -> None:
    with pytest.raises(FindingsError, match=code):
        read()


def test_reads_ranges_and_keeps_the_durations_that_are_sold() -> None:
    assert capacity_input.read_range("--nodes", "16") == (16,)
    assert capacity_input.read_range("--nodes", "8,1-3") == (1, 2, 3, 8)
    assert capacity_input.read_days("13-21") == (13 * 24, 14 * 24, 21 * 24)


def test_accepts_blocks_a_day_shorter_or_longer_than_asked() -> None:
    assert capacity_input.accepted_hours((336,)) == (312, 360)
    assert capacity_input.accepted_hours((24, 48)) == (1, 72)
