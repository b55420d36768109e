"""What is a schedule expression, and when it is due."""

from datetime import UTC, datetime

import pytest

from ultracluster_local.services.messaging.schedule_expressions import due_times, is_schedule


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due(expression: str, after: str, until: str, zone: str = "UTC") -> list[str]:
    return [
        f"{one:%Y-%m-%dT%H:%M}" for one in due_times(expression, after=at(after), until=at(until), zone=zone)
    ]


def test_first_moment_is_not_included_and_the_last_is() -> None:
    found = due("rate(1 minute)", "2026-12-01T09:00", "2026-12-01T09:02")
    assert found == ["2026-12-01T09:01", "2026-12-01T09:02"]
    assert due("rate(1 minute)", "2026-12-01T09:00:01", "2026-12-01T09:00:59") == []
    assert due("cron(0 9 * * ? *)", "2026-12-01T09:00", "2026-12-02T09:00") == ["2026-12-02T09:00"]
    assert due("at(2026-12-01T09:00:00)", "2026-12-01T09:00", "2026-12-02T09:00") == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("rate(5 minutes)", ["2026-12-01T00:05", "2026-12-01T00:10"]),
        ("cron(3/4 0 1 12 ? 2026)", ["2026-12-01T00:03", "2026-12-01T00:07", "2026-12-01T00:11"]),
        ("cron(1,5-7 0 * DEC ? *)", [f"2026-12-01T00:0{minute}" for minute in (1, 5, 6, 7)]),
        ("cron(5 0 ? * TUE *)", ["2026-12-01T00:05"]),  # 2026-12-01 is a Tuesday
        ("cron(5 0 ? * 3 *)", ["2026-12-01T00:05"]),
        ("cron(5 0 ? * MON,4-7 *)", []),
        ("cron(5 0 2 * ? *)", []),
        ("cron(5 1 * * ? *)", []),
        ("cron(5 0 * * ? 2027)", []),
        ("at(2026-12-01T00:07:30)", ["2026-12-01T00:07"]),
    ],
)
def test_is_due_at(expression: str, expected: list[str]) -> None:
    assert due(expression, "2026-12-01T00:00", "2026-12-01T00:12") == expected


def test_local_times_follow_their_zone_and_skip_the_hour_that_is_not_there() -> None:
    night = ("2027-03-27T00:00", "2027-03-29T00:00")  # clocks in Berlin go from 2 to 3 on the 28th
    assert due("cron(30 2 * * ? *)", *night, "Europe/Berlin") == ["2027-03-27T01:30"]
    assert due("cron(30 3 * * ? *)", *night, "Europe/Berlin") == ["2027-03-27T02:30", "2027-03-28T01:30"]


@pytest.mark.parametrize(
    "expression",
    [
        "every minute",
        "rate(0 minutes)",
        "rate(1 week)",
        "cron(0 9 * * *)",
        "cron(0 9 * * * *)",
        "cron(0 9 ? * ? *)",
        "cron(0 9 L * ? *)",
        "cron(0 9 ? * 2#1 *)",
        "cron(60 9 * * ? *)",
        "cron(0 24 * * ? *)",
        "cron(0 9 0 * ? *)",
        "cron(9-3 9 * * ? *)",
        "cron(*/0 9 * * ? *)",
        "at(tomorrow)",
    ],
)
def test_refuses_what_it_does_not_understand(expression: str) -> None:
    with pytest.raises(ValueError, match="does not understand"):
        due(expression, "2026-12-01T00:00", "2026-12-02T00:00")


@pytest.mark.parametrize(
    "expression",
    [
        "rate(1 minute)",
        "rate(5 minutes)",
        "rate(99999999 days)",
        "cron(0 9 * * ? *)",
        "cron(0/15 8-18 ? * MON-FRI 2026)",
        "cron(0 9 L * ? *)",
        "cron(0 9 LW * ? *)",
        "cron(0 9 15W * ? *)",
        "cron(0 9 ? * 2#1 *)",
        "cron(0 9 ? JAN,jul 6L *)",
    ],
)
def test_rates_and_cron_expressions_are_schedules_everywhere(expression: str) -> None:
    assert is_schedule(expression, one_time=False)
    assert is_schedule(expression, one_time=True)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "every minute",
        "rate(0 minutes)",
        "rate(1 minutes)",
        "rate(2 minute)",
        "rate(1 week)",
        "rate(100000000 days)",
        "cron(0 9 * * *)",
        "cron(0 9 * * * *)",
        "cron(0 9 ? * ? *)",
        "cron(? 9 * * ? *)",
        "cron(60 9 * * ? *)",
        "cron(0 24 * * ? *)",
        "cron(0 9 0 * ? *)",
        "cron(0 9 32W * ? *)",
        "cron(0 9 * 13 ? *)",
        "cron(0 9 ? * 8 *)",
        "cron(0 9 ? * 2#6 *)",
        "cron(0 9 * * ? 1969)",
        "cron(0/0 9 * * ? *)",
        "cron(0 9 * * ? *) ",
    ],
)
def test_another_text_is_not_a_schedule(expression: str) -> None:
    assert not is_schedule(expression, one_time=True)


@pytest.mark.parametrize(
    ("expression", "valid"),
    [
        ("at(2026-12-01T09:00:00)", True),
        ("at(2026-02-30T09:00:00)", False),
        ("at(2026-12-01T25:00:00)", False),
        ("at(2026-12-01)", False),
        ("at(2026-12-01T09:00:00Z)", False),
    ],
)
def test_a_single_time_is_a_schedule_of_scheduler_only(expression: str, *, valid: bool) -> None:
    assert is_schedule(expression, one_time=True) is valid
    assert not is_schedule(expression, one_time=False)
