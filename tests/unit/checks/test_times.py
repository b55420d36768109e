"""How often a rule runs, and when an action of an Auto Scaling group does."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ultracluster_checks.model.template import Source, Templates
from ultracluster_checks.times import moment, period_of


def schedule(expression: Any) -> Any:
    body = {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": expression}}
    templates = Templates([Source(name="it", body={"Resources": {"Schedule": body}})])
    return next(iter(templates.of_type("AWS::Events::Rule")))


@pytest.mark.parametrize(
    ("expression", "minutes"),
    [
        ("rate(5 minutes)", 5),
        ("rate(1 hour)", 60),
        ("rate(2 days)", 2880),
        ("cron(* * * * ? *)", 1),
        ("cron(0/10 * * * ? *)", 10),
        ("cron(0,20,40 * * * ? *)", 20),
        ("cron(7 * * * ? *)", 60),
        ("cron(0 11 * * ? *)", 1440),
        ("cron(0 * ? * MON *)", 1440),  # on some days only: at least a day on the others
        ("cron(15 10 8 2 ? 2027)", None),
        ("at(2027-02-01T11:32:00)", None),
        ({"Fn::ImportValue": "Rate"}, None),
    ],
)
def test_the_minutes_between_two_runs(expression: Any, minutes: int | None) -> None:
    assert period_of(schedule(expression)) == minutes


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2027-02-01T11:32:00Z", datetime(2027, 2, 1, 11, 32, tzinfo=UTC)),
        ("2027-02-30T11:32:00Z", None),
        (None, None),
    ],
)
def test_the_time_of_an_action_is_in_utc(text: str | None, time: datetime | None) -> None:
    assert moment(text) == time
