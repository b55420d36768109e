"""Times: how often a rule runs, and when an action does."""

import re
from datetime import UTC, datetime
from typing import Final

from ultracluster_checks.model.template import Resource

TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d)")
_RATE: Final = re.compile(r"rate\((\d{1,6}) (minute|hour|day)s?\)")
_CRON: Final = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1440}


def period_of(source: Resource) -> int | None:
    """Return the minutes between two runs of a rule or schedule; None if unknown, or if it runs once."""
    expression = (source["ScheduleExpression"].text or "").strip()
    if rate := _RATE.fullmatch(expression):
        return int(rate[1]) * _MINUTES[rate[2]]
    cron = _CRON.fullmatch(expression)
    if cron is None or cron[6].isdigit():
        return None
    minute, *others = cron.groups()
    if others[0] not in {"*", "0-23", "*/1", "0/1"} or not {*others[1:]} <= {"*", "?"}:
        return _MINUTES["day"]
    if minute == "*":
        return 1
    if step := re.fullmatch(r"(?:\*|0|0-59)/(\d{1,2})", minute):
        return int(step[1])
    return 60 // (minute.count(",") + 1)


def moment(text: str | None) -> datetime | None:
    """Return the time, in UTC, in an ISO text; None if there is none."""
    time = TIME.search(text or "")
    try:
        return datetime.fromisoformat(time[1] if time else "").replace(tzinfo=UTC)
    except ValueError:
        return None
