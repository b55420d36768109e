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


_MOST_DIGITS = 4  # a longer number is a slip of the keyboard, and a range of it would fill the memory


def _refuse(code: str, option: str, value: str, allowed: str) -> FindingsError:
    return FindingsError.of(code, f"got {quote(value)}", path=option, allowed=allowed)


def read_time(option: str, text: str) -> datetime:
    """Read a day (midnight UTC) or a time with its zone.

    Raises:
        FindingsError: UC7008 for anything else, such as a time without a zone.
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
            raise _refuse("UC7011", option, text, "a number, several with commas, or a range such as 7-14")
        numbers |= set(range(int(first), int(last) + 1))
    if not numbers or 0 in numbers:
        raise _refuse("UC7011", option, text, "numbers from 1, the smaller first")
    return tuple(sorted(numbers))


def read_days(text: str) -> tuple[int, ...]:
    """Read durations in days, and return in hours those that AWS sells.

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
        FindingsError: UC7006 for what is no plain decimal number, such as ``50k``.
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
        text: What was typed.
        known: What ``all`` stands for.
    """
    if text == "all":
        return known
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def accepted_hours(hours: tuple[int, ...]) -> tuple[int, int]:
    """Return the shortest and the longest block to accept for the requested durations, in hours.

    Blocks end at a fixed time of day, so AWS answers with blocks up to a day shorter or longer.
    """
    day = timedelta(days=1) // timedelta(hours=1)
    return max(1, min(hours) - day), max(hours) + day


def searched_regions(
    text: str, *, instance_type: str | None, ultraserver_type: str | None
) -> tuple[str, ...]:
    """Read Regions; ``all`` stands for those known to sell the type."""
    if instance_type is not None:
        known = block_regions(instance_type)
    else:
        known = ULTRASERVER_REGIONS.get(str(ultraserver_type), ())
    return read_regions(text, known=known or REGIONS)
