"""Times of schedules: how often one runs, and whether a single run comes before the end of a Capacity Block."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Wrong

TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::\d\d)?(Z|\+00:00)?")
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


def moment(text: str | None, zone: str = "UTC") -> datetime | None:
    """Return the time, in UTC, in an ISO text or an expression that runs once; None if there is none."""
    cron = _CRON.fullmatch((text or "").strip())
    if cron and all(cron[part].isdigit() for part in (1, 2, 3, 4, 6)):
        text = f"{cron[6]}-{cron[4]:0>2}-{cron[3]:0>2}T{cron[2]:0>2}:{cron[1]:0>2}"
    time = TIME.search(text or "")
    try:
        local = datetime.fromisoformat(time[1] if time else "")
        return local.replace(tzinfo=UTC if time and time[2] else ZoneInfo(zone)).astimezone(UTC)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None


def zone_of(source: Resource) -> str:
    """Return the time zone of a schedule."""
    return source["ScheduleExpressionTimezone"].text or "UTC"


def start_of(source: Resource) -> datetime | None:
    """Return when a schedule runs, if it does so once."""
    return moment(source["ScheduleExpression"].text, zone_of(source))


def window_of(source: Resource) -> timedelta:
    """Return how much later than its time a schedule may run."""
    return timedelta(minutes=source["FlexibleTimeWindow"]["MaximumWindowInMinutes"].number or 0)


def default_time(resource: Resource, word: str) -> datetime | None:
    """Return the default of the only parameter whose name contains a word such as "end"."""
    named = [each for name, each in resource.template.parameters.items() if word in name.lower()]
    return moment(str(named[0].get("Default"))) if len(named) == 1 else None


def too_late(
    at: Property, time: datetime, *, late: timedelta = timedelta(), zone: str = "UTC", block: bool = False
) -> Iterator[Wrong]:
    """Find times from 11:00 to noon UTC, or to midnight for nodes of a block, and times before 11:00 in another zone only.

    ``late`` is how much later than ``time`` it may become.
    """
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (2026-11)
    closing = time.replace(hour=11, minute=0)
    after = closing + timedelta(hours=13 if block else 1)
    elsewhere = zone in _zones() and f"{time.astimezone(ZoneInfo(zone)):%H:%M}" < "11:00"
    if time + late >= closing and (time < after or elsewhere):
        got = f"got {time + late:%H:%M} UTC; Capacity Blocks end at 11:30 UTC, and EC2 ends nodes from 11:00"
        yield at, got, "before 11:00 UTC"


@cache
def _zones() -> set[str]:
    """Return the names of all time zones, which are the files of a folder."""
    return available_timezones()
