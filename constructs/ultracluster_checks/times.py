"""Times: how often a rule runs, and whether an action comes before the end of a Capacity Block."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Wrong

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


def default_time(resource: Resource, word: str) -> datetime | None:
    """Return the default of the only parameter whose name contains a word such as "end"."""
    named = [each for name, each in resource.template.parameters.items() if word in name.lower()]
    return moment(str(named[0].get("Default"))) if len(named) == 1 else None


def too_late(at: Property, time: datetime, *, late: timedelta) -> Iterator[Wrong]:
    """Find times from 11:00 to noon UTC. ``late`` is how much later than ``time`` it may become."""
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (2026-11)
    closing = time.replace(hour=11, minute=0)
    if time + late >= closing and time < closing + timedelta(hours=1):
        got = f"got {time + late:%H:%M} UTC; Capacity Blocks end at 11:30 UTC, and EC2 ends nodes from 11:00"
        yield at, got, "before 11:00 UTC"
