"""What the ledger holds of one order: its terms, its state, and what is known of the purchase."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ultracluster_runtime.purchasing.order_states import HOLDS_FEE, OrderState
from ultracluster_runtime.purchasing.orders import Order

__all__ = ["Record"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One order as the ledger holds it.

    Attributes:
        order: The terms.
        token: The token of the terms at the time of approval.
        state: Where the order stands.
        changed_at: When the state was written.
        version: Counts the writes of this record; a write is made only on the version that was read. Default: 1.
        reason: Why the state is what it is, for people. Default: not said.
        nonce: Who may send: drawn by the one process that won APPROVED to SENDING. None before.
        sent_at: When that process wrote SENDING. None before.
        region: Where the purchase was sent. None before.
        offering_id: What was sent for. None before, and for On-Demand Capacity Reservations.
        fee: What it costs. None before SENDING.
        month: The key of the month whose cap the fee counts against. None before SENDING.
        start: Start of what was sent for. None before.
        end: End of what was sent for. None before.
        zone_ids: The zones of what was sent for.
        holds_lock: Whether this order owns its lock.
        reservation_ids: All reservations that were bought, sorted; they are never taken off again.
        block_ids: All Capacity Blocks that were bought, sorted.
        ec2_states: ``id=state`` of each reservation when it was last seen.
    """

    order: Order
    token: str
    state: OrderState
    changed_at: datetime
    version: int = 1
    reason: str = ""
    nonce: str | None = None
    sent_at: datetime | None = None
    region: str | None = None
    offering_id: str | None = None
    fee: Decimal | None = None
    month: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    zone_ids: tuple[str, ...] = ()
    holds_lock: bool = False
    reservation_ids: tuple[str, ...] = ()
    block_ids: tuple[str, ...] = ()
    ec2_states: tuple[str, ...] = ()

    @property
    def held_fee(self) -> Decimal:
        """What counts against the month's cap now."""
        return self.fee if self.fee is not None and self.state in HOLDS_FEE else Decimal(0)
