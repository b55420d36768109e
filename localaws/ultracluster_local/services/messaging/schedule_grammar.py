"""Grammar of schedule expressions, as EventBridge rules and EventBridge Scheduler check it.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html and
https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

import re
from datetime import datetime
from typing import Final, NamedTuple

__all__ = ["FIELDS", "Field", "is_schedule"]

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MOST_RATE_DIGITS = 8


class Field(NamedTuple):
    """Values of a field of ``cron``, of which some have names, from the lowest on."""

    lowest: int
    highest: int
    names: tuple[str, ...] = ()


FIELDS: Final = (
    Field(0, 59),
    Field(0, 23),
    Field(1, 31),
    Field(1, 12, _MONTHS),
    Field(1, 7, _DAYS),
    Field(1970, 2199),
)
"""Minutes, hours, days of the month, months, days of the week and years."""
_DAY_OF_MONTH, _DAY_OF_WEEK = 2, 4


def is_schedule(expression: str, *, one_time: bool) -> bool:
    """Return whether a text is a schedule expression.

    Args:
        expression: ``rate(...)``, ``cron(...)`` or ``at(...)``.
        one_time: Whether ``at(...)`` is one, as it is for EventBridge Scheduler only.
    """
    form = re.fullmatch(r"(rate|cron|at)\((.*)\)", expression)
    if form is None:
        return False
    kind, text = form.groups()
    if kind == "rate":
        return _is_rate(text)
    if kind == "cron":
        return _is_cron(text)
    return one_time and _is_moment(text)


def _is_rate(text: str) -> bool:
    form = re.fullmatch(r"(\d+) (minute|hour|day)(s?)", text)
    if form is None or len(form[1]) > _MOST_RATE_DIGITS or int(form[1]) < 1:
        return False
    return (int(form[1]) == 1) == (form[3] == "")


def _is_moment(text: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_cron(text: str) -> bool:
    fields = text.split()
    if len(fields) != len(FIELDS) or (fields[_DAY_OF_MONTH] == "?") == (fields[_DAY_OF_WEEK] == "?"):
        return False
    return all(_is_field(position, field) for position, field in enumerate(fields))


def _is_field(position: int, field: str) -> bool:
    if field == "?":
        return position in {_DAY_OF_MONTH, _DAY_OF_WEEK}
    if position == _DAY_OF_MONTH and re.fullmatch(r"L|LW|([1-9]|[12]\d|3[01])W", field):
        return True
    if position == _DAY_OF_WEEK and re.fullmatch(rf"L|(?:[1-7]|{'|'.join(_DAYS)})(?:L|#[1-5])", field):
        return True
    return all(_is_part(position, part) for part in field.split(","))


def _is_part(position: int, part: str) -> bool:
    form = re.fullmatch(r"(\*|(\w+)(?:-(\w+))?)(?:/(\d+))?", part)
    if form is None or form[4] == "0":
        return False
    return all(_is_value(position, value) for value in (form[2], form[3]) if value is not None)


def _is_value(position: int, value: str) -> bool:
    low, high, names = FIELDS[position]
    return value.upper() in names or (value.isdigit() and low <= int(value) <= high)
