"""What is a schedule expression."""

import pytest

from ultracluster_local.services.messaging.schedule_grammar import is_schedule


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
