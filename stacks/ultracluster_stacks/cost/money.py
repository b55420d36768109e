"""Amounts in US dollars that may be a range, and that say what they leave out."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce
from typing import Final

__all__ = ["NOTHING", "Money"]

_CENT: Final = Decimal("0.01")


@dataclass(frozen=True, kw_only=True, slots=True)
class Money:
    """An amount.

    Attributes:
        low: The least that is known of it.
        high: The most that is known of it.
        without: Names of what belongs to it and has no known price, or no known quantity.
    """

    low: Decimal
    high: Decimal
    without: tuple[str, ...] = ()

    @classmethod
    def total(cls, amounts: Iterable["Money"]) -> "Money":
        """Add amounts up; what one of them leaves out, the sum leaves out.

        Args:
            amounts: The amounts.
        """
        return reduce(lambda sum_, each: sum_ + each, amounts, NOTHING)

    def __add__(self, other: "Money") -> "Money":
        return Money(
            low=self.low + other.low,
            high=self.high + other.high,
            without=tuple(dict.fromkeys((*self.without, *other.without))),
        )

    def __mul__(self, factor: Decimal | int) -> "Money":
        return Money(low=self.low * factor, high=self.high * factor, without=self.without)

    @property
    def is_known(self) -> bool:
        """Whether something of it is known: an amount without anything known is shown as unknown, never as 0."""
        return bool(self.high or self.low) or not self.without

    def text(self) -> str:
        """Show it in dollars and cents: an amount, a range, or that it is not known."""
        if not self.is_known:
            return "not known"
        low, high = (each.quantize(_CENT, ROUND_HALF_UP) for each in (self.low, self.high))
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"


NOTHING: Final = Money(low=Decimal(0), high=Decimal(0))
"""What costs nothing."""
