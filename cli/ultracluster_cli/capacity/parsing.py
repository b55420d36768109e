"""Parse the ranges, days, times and amounts on the command line of `ultracluster capacity`."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from ultracluster_catalog.capacity.capacity_blocks import (
    ULTRASERVER_REGIONS,
    block_regions,
    is_block_duration,
)
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_rules.findings import FindingsError, quote

__all__ = [
    "accepted_hours",
    "read_days",
    "read_fee",
    "read_range",
    "read_regions",
    "read_time",
    "searched_regions",
]


_MOST_DIGITS = 4  # a range up to a longer number would exhaust memory


def _refuse(code: str, option: str, value: str, allowed: str) -> FindingsError:
    return FindingsError.of(code, f"got {quote(value)}", path=option, allowed=allowed)


def read_time(option: str, text: str) -> datetime:
    """Read a day (midnight UTC) or a time with a UTC offset.

    Raises:
        FindingsError: UC7008 for anything else, such as a time without an offset.
    """
    allowed = "a day such as 2026-12-01 (midnight UTC), or a time such as 2026-12-01T11:30:00Z"
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise _refuse("UC7008", option, text, allowed) from None
    if len(text) == len("2026-12-01"):
        return time.replace(tzinfo=UTC)
    if time.tzinfo is None:
        raise _refuse("UC7008", option, text, allowed)
    return time.astimezone(UTC)


def read_range(option: str, text: str) -> tuple[int, ...]:
    """Read ``16``, ``8,16`` or ``7-14`` as whole numbers.

    Raises:
        FindingsError: UC7011 for anything else.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        last = last or first
        if (
            not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit())
            or len(last) > _MOST_DIGITS
        ):
            raise _refuse(
                "UC7011", option, text, "numbers and ranges separated by commas, such as 8,16 or 7-14"
            )
        numbers |= set(range(int(first), int(last) + 1))
    if not numbers or 0 in numbers:
        raise _refuse("UC7011", option, text, "positive numbers, and ranges in ascending order")
    return tuple(sorted(numbers))


def read_days(text: str) -> tuple[int, ...]:
    """Read durations in days, and return those on sale in hours.

    Raises:
        FindingsError: UC7013 if AWS sells none of them.
    """
    hours = tuple(days * 24 for days in read_range("--days", text) if is_block_duration(days * 24))
    if not hours:
        raise _refuse("UC7013", "--days", text, "1 to 14 days, or 21 to 182 days in whole weeks")
    return hours


def read_fee(option: str, text: str) -> Decimal:
    """Read an amount of money.

    Raises:
        FindingsError: UC7006 if the text is not a plain decimal number, such as ``50k``.
    """
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not set(text) <= set("0123456789."):
        raise _refuse(
            "UC7006", option, text, "a plain number such as 190000.00, without commas or a currency"
        )
    return amount


def read_regions(text: str, *, known: tuple[str, ...]) -> tuple[str, ...]:
    """Read ``all`` or comma-separated Regions.

    Args:
        text: Value of the option.
        known: Regions that ``all`` stands for.
    """
    if text == "all":
        return known
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def accepted_hours(hours: tuple[int, ...]) -> tuple[int, int]:
    """Return the minimum and maximum duration to accept, in hours.

    Blocks end at a fixed time of day, so EC2 offers blocks up to a day shorter or longer than requested.
    """
    day = timedelta(days=1) // timedelta(hours=1)
    return max(1, min(hours) - day), max(hours) + day


def searched_regions(
    text: str, *, instance_type: str | None, ultraserver_type: str | None
) -> tuple[str, ...]:
    """Read Regions, where ``all`` stands for those known to sell the type."""
    if instance_type is not None:
        known = block_regions(instance_type)
    else:
        known = ULTRASERVER_REGIONS.get(str(ultraserver_type), ())
    return read_regions(text, known=known or REGIONS)
