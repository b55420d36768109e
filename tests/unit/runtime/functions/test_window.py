"""The window of a block, at both sides of each boundary."""

from datetime import UTC, datetime, timedelta

import pytest

from ultracluster_runtime.functions.window import BlockWindow

END = datetime(2026, 12, 15, 11, 30, tzinfo=UTC)
START = END - timedelta(days=14)


def test_a_block_of_instances_drains_forty_minutes_before_its_end() -> None:
    window = BlockWindow(start=START, end=END)
    assert window.drain_at == datetime(2026, 12, 15, 10, 50, tzinfo=UTC)
    assert window.terminates_at == datetime(2026, 12, 15, 11, 0, tzinfo=UTC)
    assert window.usable == timedelta(days=14) - timedelta(minutes=40)


def test_a_block_of_an_ultraserver_drains_seventy_minutes_before_its_end() -> None:
    window = BlockWindow(start=START, end=END, ultraserver=True)
    assert window.drain_at == datetime(2026, 12, 15, 10, 20, tzinfo=UTC)
    assert window.terminates_at == datetime(2026, 12, 15, 10, 30, tzinfo=UTC)


def test_checkpoints_are_requested_before_the_drain() -> None:
    assert BlockWindow(start=START, end=END).checkpoint_at == datetime(2026, 12, 15, 10, 30, tzinfo=UTC)
    hour = BlockWindow(start=START, end=END, checkpoint_lead=timedelta(hours=1))
    assert hour.drain_at - hour.checkpoint_at == timedelta(hours=1)


def test_notices_come_when_extensions_open_and_a_week_a_day_and_two_hours_before_the_end() -> None:
    long = BlockWindow(start=END - timedelta(days=60), end=END)
    assert [END - at for at in long.notices_at] == [
        timedelta(days=57),
        timedelta(days=7),
        timedelta(hours=24),
        timedelta(hours=2),
    ]


@pytest.mark.parametrize(
    ("lasts", "notices"),
    [
        (timedelta(days=57), 3),
        (timedelta(days=57, minutes=1), 4),
        (timedelta(days=7), 2),
        (timedelta(hours=24), 1),
        (timedelta(hours=24, minutes=1), 2),
    ],
)
def test_only_notices_inside_the_block_are_sent(lasts: timedelta, notices: int) -> None:
    assert len(BlockWindow(start=END - lasts, end=END).notices_at) == notices


def test_an_extension_is_sold_until_an_hour_before_the_end() -> None:
    assert BlockWindow(start=START, end=END).extension_closes_at == END - timedelta(hours=1)


def test_times_of_a_short_block_are_not_before_its_start() -> None:
    window = BlockWindow(start=END - timedelta(minutes=10), end=END)
    assert window.drain_at == window.checkpoint_at == window.terminates_at == window.start
    assert window.usable == timedelta(0)


@pytest.mark.parametrize(
    ("start", "end", "lead"),
    [
        (START.replace(tzinfo=None), END, 20),
        (START, END.replace(tzinfo=None), 20),
        (END, END, 20),
        (START, END, -1),
    ],
)
def test_refuses_invalid_times(start: datetime, end: datetime, lead: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        BlockWindow(start=start, end=end, checkpoint_lead=timedelta(minutes=lead))
