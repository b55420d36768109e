"""Record of an order in the ledger: its terms, its state, and what is known of the purchase."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ultracluster_runtime.purchasing.order_states import HOLDS_FEE, OrderState
from ultracluster_runtime.purchasing.orders import Order

__all__ = ["Record"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """Order in the ledger.

    Attributes:
        order: Terms.
        token: Token of the terms at the time of approval.
        state: State.
        changed_at: Time of the last write.
        version: Number of writes; a write requires the version that was read. Default: 1.
        reason: Reason of the state, for people. Default: empty.
        nonce: Random value of the process that may send: the one that won APPROVED to SENDING. None before.
        sent_at: Time at which that process wrote SENDING. None before.
        region: Region of the purchase. None before SENDING.
        offering_id: Requested offering. None before, and for On-Demand Capacity Reservations.
        fee: Fee. None before SENDING.
        month: Key of the month whose cap the fee counts against. None before SENDING.
        start: Start of the requested capacity. None before SENDING.
        end: End of the requested capacity. None before SENDING.
        zone_ids: Zone IDs of the requested capacity.
        holds_lock: Whether this order holds its lock.
        reservation_ids: All bought reservations, sorted; never removed.
        block_ids: All bought Capacity Blocks, sorted.
        ec2_states: ``id=state`` of each reservation when it was last read.
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
        """Fee that counts against the monthly cap now."""
        return self.fee if self.fee is not None and self.state in HOLDS_FEE else Decimal(0)
