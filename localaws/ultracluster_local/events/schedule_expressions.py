"""Due times of the schedule expressions `rate(...)`, `cron(...)` and `at(...)`.

Rates count from 1970, not from the creation of their rule, so that `rate(1 minute)` is due at each full minute.
The wildcards L, W and # of `cron` are refused.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from ultracluster_local.services.messaging.schedule_grammar import FIELDS, Field

__all__ = ["due_times"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}


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
    form = re.fullmatch(r"(rate|cron|at)\(\s*(.*?)\s*\)", expression)
    if form is None:
        raise _not_understood(expression)
    kind, text = form.groups()
    if kind == "rate":
        return _rate(expression, text, after, until)
    if kind == "at":
        return (one for one in _existing([datetime.fromisoformat(text)], zone) if after < one <= until)
    return _cron(expression, text, after, until, zone)


def _rate(expression: str, text: str, after: datetime, until: datetime) -> Iterator[datetime]:
    parts = re.fullmatch(r"(\d+)\s+(minute|hour|day)s?", text)
    if parts is None or int(parts[1]) < 1:
        raise _not_understood(expression)
    step = int(parts[1]) * _UNITS[parts[2]]
    first, last = (after - _EPOCH) // step + 1, (until - _EPOCH) // step
    return (_EPOCH + number * step for number in range(first, last + 1))


def _cron(expression: str, text: str, after: datetime, until: datetime, zone: str) -> Iterator[datetime]:
    fields = text.split()
    if len(fields) != len(FIELDS) or (fields[2] == "?") == (fields[4] == "?"):
        raise _not_understood(expression)
    sets = [_values(expression, one, field) for one, field in zip(fields, FIELDS, strict=True)]
    return _cron_times(sets, after, until, zone)


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


def _values(expression: str, text: str, field: Field) -> set[int]:
    values: set[int] = set()
    for part in text.split(","):
        form = re.fullmatch(r"(\*|\?|(\w+)(?:-(\w+))?)(?:/(\d+))?", part)
        if form is None:
            raise _not_understood(expression)
        if form[2] is None:
            low, high = field.lowest, field.highest
        else:
            low = _number(expression, form[2], field)
            # `5/10` repeats from 5, `5` does not.
            high = _number(expression, form[3], field) if form[3] else field.highest if form[4] else low
        if high < low or form[4] == "0":
            raise _not_understood(expression)
        values |= set(range(low, high + 1, int(form[4] or 1)))
    return values


def _number(expression: str, text: str, field: Field) -> int:
    if text.upper() in field.names:
        return field.names.index(text.upper()) + field.lowest
    if not text.isdigit() or not field.lowest <= int(text) <= field.highest:
        raise _not_understood(expression)
    return int(text)


def _not_understood(expression: str) -> ValueError:
    return ValueError(f"the local AWS does not understand the schedule {expression!r}")
