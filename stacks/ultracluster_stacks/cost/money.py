"""Amounts in US dollars, which may be a range and incomplete."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce
from typing import Final

APPROXIMATELY: Final = "≈ "
"""Marks amounts with a price of another Region."""

_CENT: Final = Decimal("0.01")


@dataclass(frozen=True, kw_only=True, slots=True)
class Money:
    """An amount in US dollars.

    Attributes:
        low: Lower bound of the known part.
        high: Upper bound of the known part.
        without: Names of lines without a known price or quantity.
        approximate: Whether a price of another Region is in it.
    """

    low: Decimal
    high: Decimal
    without: tuple[str, ...] = ()
    approximate: bool = False

    @classmethod
    def total(cls, amounts: Iterable["Money"]) -> "Money":
        """Return the sum of amounts, without everything that one of them leaves out."""
        return reduce(lambda sum_, amount: sum_ + amount, amounts, NOTHING)

    def __add__(self, other: "Money") -> "Money":
        return Money(
            low=self.low + other.low,
            high=self.high + other.high,
            without=tuple(dict.fromkeys((*self.without, *other.without))),
            approximate=self.approximate or other.approximate,
        )

    def __mul__(self, factor: Decimal | int) -> "Money":
        return replace(self, low=self.low * factor, high=self.high * factor)

    @property
    def is_known(self) -> bool:
        """Whether a part of the amount is known; otherwise it is shown as unknown, never as 0."""
        return bool(self.high or self.low) or not self.without

    def text(self, *, signed: bool = False) -> str:
        """Format the amount in dollars and cents: as a range if needed, with ≈ if it is approximate, or as unknown."""
        if not self.is_known:
            return "not known"
        low, high = (bound.quantize(_CENT, ROUND_HALF_UP) for bound in (self.low, self.high))
        mark = APPROXIMATELY if self.approximate else ""
        sign = "+" if signed and self.low > 0 else ""
        return f"{mark}{sign}{low:,}" if low == high else f"{mark}{sign}{low:,} to {high:,}"


NOTHING: Final = Money(low=Decimal(0), high=Decimal(0))
"""The amount zero, with nothing left out."""
