"""Effects that the purchase protocol performs, and their replies.

The protocol is a generator that yields an effect and receives its reply. It does no input or output itself, so that
tests can fail every call in every way, and stop a process between any two calls.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Generic, TypeVar

from ultracluster_runtime.purchasing.ec2_objects import Quote, Request
from ultracluster_runtime.purchasing.orders import Order, Record
from ultracluster_spec.findings import Finding, FindingsError

T = TypeVar("T")


# Effects


@dataclass(frozen=True, slots=True)
class Now:
    """Get the current time. Reply: a timezone-aware datetime."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Sleep. Reply: None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GetCallerAccount:
    """Get the account of the credentials. Reply: the account ID, or `ReadFailed`."""


@dataclass(frozen=True, slots=True)
class ReadClock:
    """Read AWS's clock. Reply: a timezone-aware datetime, or `ReadFailed`."""


@dataclass(frozen=True, slots=True)
class ReadOrders:
    """Read all orders with strong consistency. Reply: a list of `Record`, or `ReadFailed`."""


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """Read an order with strong consistency. Reply: `Record`, None if there is none, or `ReadFailed`."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Advance:
    """Write a record in one transaction, if the ledger still holds `before`.

    Entering SENDING also acquires the lock and reserves the fee against the monthly cap; leaving it releases both.
    Reply: `Committed`, `ConditionFailed` or `OutcomeUnknown`.
    """

    before: Record
    after: Record


@dataclass(frozen=True, kw_only=True, slots=True)
class Describe:
    """Read a page of a listing of EC2; None is the first. Reply: `Page` or `ReadFailed`."""

    region: str
    page: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeOfferings(Describe):
    """Read Capacity Block offerings: `Page[Offering]`."""

    instance_type: str | None
    ultraserver_type: str | None
    count: int
    hours: int
    start_after: datetime
    end_by: datetime


class DescribeReservations(Describe):
    """Read all Capacity Reservations in any state: `Page[Reservation]`.

    DescribeCapacityReservations has no documented filter for tags, so the protocol filters them itself.
    """


class DescribeBlocks(Describe):
    """Read all Capacity Blocks in any state: `Page[Block]`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeExtensionOfferings(Describe):
    """Read extension offerings: `Page[ExtensionOffering]`."""

    reservation_id: str
    hours: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeExtensionHistory(Describe):
    """Read the extensions of a reservation: `Page[Extension]`."""

    reservation_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirm:
    """Ask the user for confirmation. Reply: True to continue."""

    order: Order
    quote: Quote


@dataclass(frozen=True, kw_only=True, slots=True)
class Accept:
    """Ask the user whether to buy although other orders overlap. Reply: True to continue."""

    order: Order
    others: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class DryRun:
    """Send a request as a dry run. Reply: `DryRunPassed`, `Refused` or `DryRunExecuted`."""

    request: Request


@dataclass(frozen=True, kw_only=True, slots=True)
class Send:
    """Send a request once, and never again; not at all after `not_after`, nor when the clock was set back before `not_before`.

    The limit is checked when the signed request is sent. A process that is suspended even later holds a signature that
    AWS accepts for five minutes only. So nothing can arrive after other processes have given the order up.
    Reply: `Bought`, `Refused` or `OutcomeUnknown`.
    """

    request: Request
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelReservation:
    """Cancel an On-Demand Capacity Reservation. Reply: `Committed`, `Refused` or `OutcomeUnknown`."""

    region: str
    reservation_id: str


Effect = (
    Now
    | Sleep
    | GetCallerAccount
    | ReadClock
    | ReadOrders
    | ReadRecord
    | Advance
    | Describe
    | Confirm
    | Accept
    | DryRun
    | Send
    | CancelReservation
)


# Replies


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[T]):
    """Page of a listing. An empty page with a token is not the last one."""

    items: tuple[T, ...]
    next_token: str | None = None
    unreadable: tuple[Finding, ...] = ()  # what could not be parsed; it is never bought


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadFailed:
    """A read failed. `transient` if a retry may help."""

    code: str
    message: str
    transient: bool


@dataclass(frozen=True, slots=True)
class Committed:
    """The write was committed."""


@dataclass(frozen=True, slots=True)
class ConditionFailed:
    """The write was rejected by these conditions: any of ``state``, ``lock`` and ``month``."""

    reasons: frozenset[str]


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The outcome is unknown: a lost reply, a 5xx error, a timeout, or an unreadable response."""

    message: str


@dataclass(frozen=True, slots=True)
class DryRunPassed:
    """The dry run returned DryRunOperation, at this time of AWS's clock (None without a Date header)."""

    server_time: datetime | None


@dataclass(frozen=True, slots=True)
class DryRunExecuted:
    """The dry run succeeded like a real request. It may have been executed."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The request was refused. `sent` unless it was refused before it left this machine."""

    code: str
    message: str
    sent: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Bought:
    """AWS confirmed the purchase of these reservations and blocks, for this fee as far as it says so."""

    reservation_ids: tuple[str, ...]
    block_ids: tuple[str, ...] = ()
    fee: Decimal | None = None


Steps = Generator[Effect, Any, T]
"""Protocol: a generator that yields effects, receives their replies and returns a result."""


def perform_all(steps: Steps[T], perform: Callable[[Effect], Any]) -> T:
    """Run a protocol to its end, performing each effect.

    The protocol gets a `FindingsError` of `perform` as the reply: after a purchase, it still has to report the purchase.
    """
    proceed = partial(steps.send, None)
    while True:
        try:
            effect = proceed()
        except StopIteration as stop:
            result: T = stop.value
            return result
        try:
            proceed = partial(steps.send, perform(effect))
        except FindingsError as error:
            proceed = partial(steps.throw, error)
