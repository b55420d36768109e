"""States of an order and the transitions between them, as data."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

__all__ = ["HOLDS_FEE", "HOLDS_LOCK", "TRANSITIONS", "OrderState"]


class OrderState(StrEnum):
    """State of an order. No state leads back to APPROVED, and only APPROVED leads to SENDING."""

    APPROVED = "APPROVED"
    """The terms were approved; nothing was sent."""
    SENDING = "SENDING"
    """One process may have sent the request. The outcome is not known yet."""
    PURCHASED = "PURCHASED"
    """The reservations exist; the payment is not confirmed."""
    PAID = "PAID"
    """The payment is confirmed; for an On-Demand Capacity Reservation: the capacity is reserved."""
    FAILED = "FAILED"
    """The payment failed or AWS could not deliver, and released the reservation."""
    REJECTED = "REJECTED"
    """Nothing was bought: AWS refused before executing, or the request was not sent."""
    UNKNOWN = "UNKNOWN"
    """Nothing was found within 30 minutes after sending. A person decides, on evidence."""
    CLOSED = "CLOSED"
    """A person decided on evidence that nothing was bought."""
    REVOKED = "REVOKED"
    """The approval was revoked before anything was sent."""
    CANCELLED = "CANCELLED"
    """An On-Demand Capacity Reservation was cancelled. Capacity Blocks cannot be."""


_FOUND = frozenset({OrderState.PURCHASED, OrderState.PAID, OrderState.FAILED})
"""States that evidence in EC2 leads to. Evidence in EC2 overrides the ledger."""

TRANSITIONS: Mapping[OrderState, frozenset[OrderState]] = MappingProxyType(
    {
        # UNKNOWN: a dry run that succeeds like a real request may have bought.
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
        OrderState.CANCELLED,  # the hours until the cancellation were billed; their number is unknown here
    }
)
"""States whose fee counts against the monthly cap."""

HOLDS_LOCK = frozenset({OrderState.SENDING, OrderState.UNKNOWN, OrderState.PURCHASED})
"""States in which no other order for the same cluster (or extension of the same reservation) may be sent."""
