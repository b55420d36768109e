"""The states of an order and the only ways from one to another, as data."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

__all__ = ["HOLDS_FEE", "HOLDS_LOCK", "TRANSITIONS", "OrderState"]


class OrderState(StrEnum):
    """Where an order stands. No state leads back to APPROVED, and only APPROVED leads to SENDING."""

    APPROVED = "APPROVED"
    """A person approved the terms; nothing was sent."""
    SENDING = "SENDING"
    """One process may have sent the one request. What came of it is not known yet."""
    PURCHASED = "PURCHASED"
    """The reservations exist; the payment has not been seen to clear."""
    PAID = "PAID"
    """The payment cleared; for an On-Demand Capacity Reservation: the capacity is held."""
    FAILED = "FAILED"
    """AWS could not take the payment, or could not deliver, and released the reservation."""
    REJECTED = "REJECTED"
    """Nothing was bought: AWS refused before executing, or the buyer gave up before sending."""
    UNKNOWN = "UNKNOWN"
    """Nothing was found for 30 minutes after sending. A person decides, with evidence."""
    CLOSED = "CLOSED"
    """A person decided from evidence that nothing was bought."""
    REVOKED = "REVOKED"
    """A person took the approval back before anything was sent."""
    CANCELLED = "CANCELLED"
    """An On-Demand Capacity Reservation was given back. A Capacity Block cannot be."""


_FOUND = frozenset({OrderState.PURCHASED, OrderState.PAID, OrderState.FAILED})
"""What evidence in EC2 leads to. What EC2 shows is stronger than what the ledger believed."""

TRANSITIONS: Mapping[OrderState, frozenset[OrderState]] = MappingProxyType(
    {
        # UNKNOWN: a dry run that answers normally may have bought.
        OrderState.APPROVED: _FOUND | {OrderState.SENDING, OrderState.REVOKED, OrderState.UNKNOWN},
        OrderState.SENDING: _FOUND | {OrderState.REJECTED, OrderState.UNKNOWN},
        OrderState.UNKNOWN: _FOUND | {OrderState.CLOSED},
        OrderState.PURCHASED: frozenset({OrderState.PAID, OrderState.FAILED, OrderState.CANCELLED}),
        OrderState.PAID: frozenset({OrderState.CANCELLED}),
        OrderState.REJECTED: _FOUND,
        OrderState.CLOSED: _FOUND,
        OrderState.FAILED: frozenset(),
        OrderState.REVOKED: frozenset(),
        OrderState.CANCELLED: frozenset(),
    }
)

HOLDS_FEE = frozenset(
    {
        OrderState.SENDING,
        OrderState.UNKNOWN,
        OrderState.PURCHASED,
        OrderState.PAID,
        OrderState.CANCELLED,  # the hours until the cancellation were paid; how many is not known here
    }
)
"""States whose fee counts against the month's cap."""

HOLDS_LOCK = frozenset({OrderState.SENDING, OrderState.UNKNOWN, OrderState.PURCHASED})
"""States in which no other order of the same cluster (or extension of the same reservation) may be sent."""
