"""The schedule expressions `rate(...)`, `cron(...)` and `at(...)` of EventBridge rules and EventBridge Scheduler, and when they are due.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html and
https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html

Rates count from 1970, not from the creation of their rule, so that `rate(1 minute)` is due at each full minute. The wildcards L, W
and # of `cron` are valid, but have no due times here.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

__all__ = ["due_times", "is_schedule"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class _Field(NamedTuple):
    """Values of a field of ``cron``, of which some have names, from the lowest on, and its wildcards."""

    lowest: int
    highest: int
    names: tuple[str, ...] = ()
    wildcards: str = "(?!)"


_FIELDS = (
    _Field(0, 59),
    _Field(0, 23),
    _Field(1, 31, wildcards=r"L|LW|([1-9]|[12]\d|3[01])W"),
    _Field(1, 12, _MONTHS),
    _Field(1, 7, _DAYS, wildcards=rf"L|([1-7]|{'|'.join(_DAYS)})(L|#[1-5])"),
    _Field(1970, 2199),
)
"""Minutes, hours, days of the month, months, days of the week and years; one of the two kinds of days is a question mark."""


def is_schedule(expression: str, *, one_time: bool) -> bool:
    """Return whether a text is a schedule expression.

    Args:
        expression: ``rate(...)``, ``cron(...)`` or ``at(...)``.
        one_time: Whether ``at(...)`` is one, as it is for EventBridge Scheduler only.
    """
    try:
        kind, text = _parts(expression)
        if kind == "cron":
            for one, field in _cron_fields(text):
                if not re.fullmatch(field.wildcards, one):
                    _values(one, field)
        elif kind == "rate":
            _step(text)
        else:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return one_time or kind != "at"


def due_times(expression: str, *, after: datetime, until: datetime, zone: str = "UTC") -> Iterator[datetime]:
    """Return the due times of an expression in UTC, in order.

    Args:
        expression: ``rate(...)``, ``cron(...)`` or ``at(...)``.
        after: Start, exclusive.
        until: End, inclusive.
        zone: Time zone of ``cron`` and ``at``. Default: UTC.

    Raises:
        ValueError: If the expression is malformed or not supported.
    """
    try:
        kind, text = _parts(expression)
        if kind == "rate":
            step = _step(text)
            first, last = (after - _EPOCH) // step + 1, (until - _EPOCH) // step
            return (_EPOCH + number * step for number in range(first, last + 1))
        if kind == "at":
            return (one for one in _existing([datetime.fromisoformat(text)], zone) if after < one <= until)
        return _cron_times([_values(one, field) for one, field in _cron_fields(text)], after, until, zone)
    except ValueError as error:
        problem = f"the local AWS does not understand the schedule {expression!r}: {error}"
        raise ValueError(problem) from None


def _parts(expression: str) -> tuple[str, str]:
    form = re.fullmatch(r"(rate|cron)\((.*)\)|(at)\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)", expression)
    if form is None:
        raise ValueError("it is no rate, cron or at")
    return form[1] or form[3], form[2] or form[4] or ""


def _step(text: str) -> timedelta:
    form = re.fullmatch(r"(\d{1,8}) (minute|hour|day)(s?)", text)
    if form is None or int(form[1]) < 1 or (int(form[1]) == 1) == bool(form[3]):
        raise ValueError(f"{text} is no rate")
    return int(form[1]) * _UNITS[form[2]]


def _cron_fields(text: str) -> list[tuple[str, _Field]]:
    fields = text.split()
    if [one == "?" for one in fields] not in _ONE_KIND_OF_DAYS:
        raise ValueError(f"{text} has no six fields with one question mark for days")
    return list(zip(fields, _FIELDS, strict=True))


_ONE_KIND_OF_DAYS = [[place == days for place in range(6)] for days in (2, 4)]


def _cron_times(sets: list[set[int]], after: datetime, until: datetime, zone: str) -> Iterator[datetime]:
    minutes, hours, days, months, weekdays, years = sets
    day = after.astimezone(ZoneInfo(zone)).date()
    last = until.astimezone(ZoneInfo(zone)).date()
    while day <= last:
        # ISO counts Monday as 1 and Sunday as 7, cron Sunday as 1.
        weekday = day.isoweekday() % 7 + 1
        if day.year in years and day.month in months and day.day in days and weekday in weekdays:
            naive = [_at(day, hour, minute) for hour in sorted(hours) for minute in sorted(minutes)]
            yield from (one for one in _existing(naive, zone) if after < one <= until)
        day += timedelta(days=1)


def _at(day: date, hour: int, minute: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - its zone comes next


def _existing(naive: list[datetime], zone: str) -> Iterator[datetime]:
    """Localize times, omitting those that a daylight saving change skips."""
    for each in naive:
        moment = each.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
        if moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) == each:
            yield moment


def _values(text: str, field: _Field) -> set[int]:
    values: set[int] = set()
    for part in text.split(","):
        form = re.fullmatch(r"(\*|\?|(\w+)(?:-(\w+))?)(?:/(\d+))?", part)
        if form is None or form[4] == "0":
            raise ValueError(f"{part} is no value")
        low, high = field.lowest, field.highest
        if form[2] is not None:
            low = _number(form[2], field)
            # `5/10` repeats from 5, `5` does not.
            high = _number(form[3], field) if form[3] else field.highest if form[4] else low
        if high < low:
            raise ValueError(f"{part} is no range")
        values |= set(range(low, high + 1, int(form[4] or 1)))
    return values


def _number(text: str, field: _Field) -> int:
    if text.upper() in field.names:
        return field.names.index(text.upper()) + field.lowest
    if not text.isdigit() or not field.lowest <= int(text) <= field.highest:
        raise ValueError(f"{text} is not between {field.lowest} and {field.highest}")
    return int(text)
