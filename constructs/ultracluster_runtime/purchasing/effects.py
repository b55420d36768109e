"""Everything that the purchase protocol asks of the world, and every answer it understands.

The protocol is a generator that yields an effect and is sent the reply. It does no input or output itself, so that
tests can fail every call in every way, and stop a process between any two.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from ultracluster_runtime.purchasing.ec2_objects import Quote, Request
from ultracluster_runtime.purchasing.orders import Order
from ultracluster_runtime.purchasing.records import Record

__all__ = [
    "Advance",
    "Bought",
    "CancelReservation",
    "Committed",
    "ConditionFailed",
    "Confirm",
    "DescribeBlocks",
    "DescribeExtensionHistory",
    "DescribeExtensionOfferings",
    "DescribeOfferings",
    "DescribeReservations",
    "DryRun",
    "DryRunExecuted",
    "DryRunPassed",
    "Effect",
    "GetCallerAccount",
    "Now",
    "OutcomeUnknown",
    "Page",
    "ReadFailed",
    "ReadRecord",
    "Refused",
    "Send",
    "Sleep",
    "Steps",
    "perform_all",
]

T = TypeVar("T")


# Effects


@dataclass(frozen=True, slots=True)
class Now:
    """The present time. Reply: an aware datetime."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait. Reply: None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GetCallerAccount:
    """Whose credentials these are. Reply: the account, or `ReadFailed`."""


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """Read an order, strongly consistent. Reply: `Record`, None when there is none, or `ReadFailed`."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Advance:
    """Write a record in one transaction, if the ledger still holds `before`.

    To SENDING it also takes the lock and holds the fee against the month's cap; leaving, it gives them back.
    Reply: `Committed`, `ConditionFailed` or `OutcomeUnknown`.
    """

    before: Record
    after: Record


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeOfferings:
    """One page of Capacity Block offerings. Reply: `Page[Offering]` or `ReadFailed`."""

    region: str
    instance_type: str | None
    ultraserver_type: str | None
    count: int
    hours: int
    start_after: datetime
    end_by: datetime
    page: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeReservations:
    """One page of all Capacity Reservations in every state. Reply: `Page[Reservation]` or `ReadFailed`.

    No filter: DescribeCapacityReservations documents none for tags, so the protocol itself looks at the tags.
    """

    region: str
    page: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeBlocks:
    """One page of all Capacity Blocks in every state. Reply: `Page[Block]` or `ReadFailed`."""

    region: str
    page: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeExtensionOfferings:
    """One page of offers to extend. Reply: `Page[ExtensionOffering]` or `ReadFailed`."""

    region: str
    reservation_id: str
    hours: int
    page: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribeExtensionHistory:
    """One page of the extensions of a reservation. Reply: `Page[Extension]` or `ReadFailed`."""

    region: str
    reservation_id: str
    page: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirm:
    """Ask the person who runs the command. Reply: True to go on."""

    order: Order
    quote: Quote


@dataclass(frozen=True, slots=True)
class DryRun:
    """Send a request as a dry run. Reply: `DryRunPassed`, `Refused` or `DryRunExecuted`."""

    request: Request


@dataclass(frozen=True, kw_only=True, slots=True)
class Send:
    """Send a request for real, once, and never again; after `not_after`, not at all.

    The limit is held where the request leaves, after it was signed. A process that is suspended even later holds a
    signature that AWS takes for five minutes only. So nothing can arrive when others have given the order up.
    Reply: `Bought`, `Refused` or `OutcomeUnknown`.
    """

    request: Request
    not_after: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelReservation:
    """Give an On-Demand Capacity Reservation back. Reply: `Committed`, `Refused` or `OutcomeUnknown`."""

    region: str
    reservation_id: str


Effect = (
    Now
    | Sleep
    | GetCallerAccount
    | ReadRecord
    | Advance
    | DescribeOfferings
    | DescribeReservations
    | DescribeBlocks
    | DescribeExtensionOfferings
    | DescribeExtensionHistory
    | Confirm
    | DryRun
    | Send
    | CancelReservation
)


# Replies


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[T]):
    """One page of a listing; an empty page with a token is not the end."""

    items: tuple[T, ...]
    next_token: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadFailed:
    """A read gave no answer. `transient` when asking again may help."""

    code: str
    message: str
    transient: bool


@dataclass(frozen=True, slots=True)
class Committed:
    """The write happened."""


@dataclass(frozen=True, slots=True)
class ConditionFailed:
    """The write did not happen, for these reasons: any of ``state``, ``lock`` and ``month``."""

    reasons: frozenset[str]


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """Nobody can say whether it happened: a lost reply, a 5xx, a time-out, an answer that cannot be read."""

    message: str


@dataclass(frozen=True, slots=True)
class DryRunPassed:
    """The dry run said DryRunOperation, at this time by AWS's clock (None if it sent none)."""

    server_time: datetime | None


@dataclass(frozen=True, slots=True)
class DryRunExecuted:
    """The dry run was answered like a real request. It may have been one."""


@dataclass(frozen=True, slots=True)
class Refused:
    """AWS refused before executing."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bought:
    """AWS says it is bought; these are all reservations and blocks."""

    reservation_ids: tuple[str, ...]
    block_ids: tuple[str, ...] = ()


Steps = Generator[Effect, Any, T]
"""A protocol: yields effects, is sent their replies, returns its result."""


def perform_all(steps: Steps[T], perform: Callable[[Effect], Any]) -> T:
    """Run a protocol to its end, performing each effect as it comes."""
    reply: Any = None
    while True:
        try:
            effect = steps.send(reply)
        except StopIteration as stop:
            result: T = stop.value
            return result
        reply = perform(effect)
