"""Simulation of EC2, the ledger table and a clock, in which every call can fail.

It replaces boto3 and AWS; it is not AWS. Faults are raised as the exceptions that boto3 raises and go through the
product's own reading of them (`ultracluster_runtime.purchasing.aws_errors`), so that a wrong reading shows here.
"""

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.unit.runtime.purchasing.faults import EXCEPTIONS, READS, client_error, faults_of
from tests.unit.runtime.purchasing.invariants import check_send
from tests.unit.runtime.purchasing.protocol_player import Running

from ultracluster_runtime.purchasing import aws_errors, effects
from ultracluster_runtime.purchasing.ec2_objects import (
    Block,
    CreateReservation,
    Extension,
    ExtensionOffering,
    PurchaseBlock,
    PurchaseExtension,
    Request,
    Reservation,
)
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.purchasing.orders import Order, OrderState, Record
from ultracluster_spec.findings import FindingsError

START = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
REGION = "us-east-2"
ACCOUNT = "123456789012"
OWNED = "cr-0000000000000000f"
OWNED_END = START + timedelta(days=10)
LAG = timedelta(minutes=90)
PAYMENT = timedelta(hours=1)
_A_CALL = timedelta(seconds=1)
_CALLS = (*READS, effects.Send, effects.DryRun, effects.Advance, effects.CancelReservation)
CLEAR = timedelta(hours=3)  # longer than any lag, delay and payment


OWNED_BLOCK = Reservation(
    reservation_id=OWNED,
    state="active",
    reservation_type="capacity-block",
    instance_type="trn2.48xlarge",
    instance_count=16,
    zone_id="use2-az3",
    start=OWNED_END - timedelta(days=14),
    end=OWNED_END,
    created=START - timedelta(days=30),
    order_name="an-old-order",
)


class ProcessDiedError(Exception):
    """The process that runs the protocol is gone."""


@dataclass(frozen=True)
class Bought:
    """One purchase that EC2 executed."""

    order_name: str
    request: Request
    at: datetime
    visible_at: datetime
    fee: Decimal
    quoted: Decimal  # what the ledger says that it costs
    ids: tuple[str, ...]
    block_ids: tuple[str, ...]
    end: datetime
    start: datetime
    pays: bool


@dataclass
class Simulation:
    """EC2, the ledger and the time.

    Attributes:
        faults: Which fault strikes which call, by the number of the call.
        choose_fault: Chooses a fault for an effect instead.
        while_confirming: What happens in the world while a person decides.
        late: What is under way: when it arrives, the method that it calls then, and with what.
    """

    faults: dict[int, str] = field(default_factory=dict)
    now: datetime = START
    records: dict[str, Record] = field(default_factory=dict)
    locks: dict[str, str] = field(default_factory=dict)
    months: dict[str, Decimal] = field(default_factory=dict)
    offerings: tuple[Offering, ...] = ()
    extension_end: datetime = OWNED_END
    bought: list[Bought] = field(default_factory=list)
    sends: dict[str, int] = field(default_factory=dict)
    late: list[tuple[datetime, Callable[..., Any], tuple[Any, ...]]] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    payment_fails: bool = False
    segments: int = 1
    clock_ahead: timedelta = timedelta(0)
    extension_fee: Decimal = Decimal(9000)
    choose_fault: Callable[[Any], str] | None = None
    confirmed: bool = True
    accepts: Callable[[effects.Accept], bool] = lambda _: True
    asked: set[tuple[str, str]] = field(default_factory=set)
    accepted: set[tuple[str, str]] = field(default_factory=set)
    while_confirming: Callable[["Simulation"], None] | None = None

    # States

    def copy(self) -> "Simulation":
        """The same state in a world of its own, where no call was made yet and nothing is planned to fail."""
        return replace(
            self,
            faults={},
            records=self.records.copy(),
            locks=self.locks.copy(),
            months=self.months.copy(),
            bought=self.bought.copy(),
            sends=self.sends.copy(),
            late=self.late.copy(),
            asked=self.asked.copy(),
            accepted=self.accepted.copy(),
            calls=[],
        )

    @property
    def state(self) -> Hashable:
        """All that can make a difference to what happens from here on, when no process runs."""
        return (
            self.now,
            self.extension_end,
            *map(tuple, (self.bought, self.late)),
            *(frozenset(kept.items()) for kept in (self.records, self.locks, self.months, self.sends)),
        )

    # Time

    def pass_time(self, duration: timedelta) -> None:
        """Let time pass; what was under way arrives on its way."""
        until = self.now + duration
        if self.late:
            for arrival in sorted(self.late, key=lambda item: item[0]):
                due, act, arguments = arrival
                if due <= until:
                    self.now = max(self.now, due)
                    self.late.remove(arrival)
                    act(self, *arguments)
        self.now = max(self.now, until)

    # Calls

    def perform(self, effect: Any, process: "Process") -> Any:
        """Perform an effect, or fail it as planned."""
        local = self.clock_ahead + process.clock_ahead
        if not isinstance(effect, _CALLS):
            return self._perform_here(effect, process.name, local)
        self.pass_time(_A_CALL)
        fault = self.faults.get(len(self.calls), "")
        if self.choose_fault:
            fault = self.choose_fault(effect)
        self.calls.append(effect)
        if fault and fault not in faults_of(effect):
            fault = ""
        if fault == "die-before":
            raise ProcessDiedError
        if isinstance(effect, effects.Send):
            if not effect.not_before <= self.now + local <= effect.not_after:
                return effects.Refused("TooLate", "not sent", sent=False)
            name = process.name
            check_send(self, effect.request, process)
            self.sends[name] = self.sends.get(name, 0) + 1
        reply = self._reply(effect, fault, process.name)
        if fault == "die-after":
            raise ProcessDiedError
        return reply

    def _perform_here(self, effect: Any, name: str, local: timedelta) -> Any:
        """Perform what needs no call: the clock, a pause, and questions to a person."""
        if isinstance(effect, effects.Now):
            return self.now + local
        if isinstance(effect, effects.Accept):
            pairs = {(name, other.order.name) for other in effect.others}
            self.asked |= pairs
            accepted = self.accepts(effect)
            self.accepted |= pairs if accepted else set()
            return accepted
        if isinstance(effect, effects.Confirm):
            return self._confirm()
        return self.pass_time(timedelta(seconds=effect.seconds))

    def _confirm(self) -> bool:
        if self.while_confirming:
            self.while_confirming(self)
        return self.confirmed

    def _reply(self, effect: Any, fault: str, name: str) -> Any:
        if isinstance(effect, effects.Send):
            return self._send(effect.request, fault, name)
        if isinstance(effect, effects.DryRun):
            return self._dry_run(fault)
        if isinstance(effect, effects.Advance):
            return self._advance(effect, fault)
        if fault in EXCEPTIONS:
            return aws_errors.classify_read_error(EXCEPTIONS[fault]())
        if fault == "no-table":
            raise FindingsError.of("UC7021", "the ledger table cannot be used")
        return self._read(effect, fault)

    def _dry_run(self, fault: str) -> Any:
        if fault == "answers-normally":
            return effects.DryRunExecuted()
        if fault in EXCEPTIONS:
            return aws_errors.classify_dry_run_error(EXCEPTIONS[fault]())
        dry = client_error("DryRunOperation", 412)
        dry.response["ResponseMetadata"]["HTTPHeaders"] = {
            "date": self.now.strftime("%a, %d %b %Y %H:%M:%S GMT")
        }
        return aws_errors.classify_dry_run_error(dry)

    # The ledger

    def approve(self, order: Order) -> None:
        """Approve an order, as the ledger does."""
        if order.name not in self.records:
            self.records[order.name] = Record(
                order=order, token=order.token, state=OrderState.APPROVED, changed_at=self.now
            )

    def _advance(self, effect: effects.Advance, fault: str) -> Any:
        transaction = (effect.before, effect.after)
        if fault == "late-after":
            self.late.append((self.now + timedelta(minutes=10), Simulation.advance, transaction))
        elif fault in {"lost-reply-after", "500-after", "parse-error-after"}:
            self.advance(*transaction)
        if fault in EXCEPTIONS:
            return aws_errors.classify_transaction_error(EXCEPTIONS[fault](), ("state",))
        if fault == "confirmed-unwritten":
            return effects.Committed()
        if fault == "duplicate":  # delivered twice, and the second answer arrives
            self.advance(*transaction)
        return self.advance(*transaction)

    def advance(self, before: Record, after: Record) -> Any:
        """The transaction of `ultracluster_runtime.purchasing.ledger`; a test holds the two against each other."""
        name = after.order.name
        held = self.records.get(name)
        reasons = set()
        if held is None or (held.version, held.state, held.nonce) != (
            before.version,
            before.state,
            before.nonce,
        ):
            reasons.add("state")
        lock, month = after.order.lock, after.month or ""
        fee = after.held_fee - before.held_fee
        if after.state is OrderState.SENDING:
            if lock in self.locks and not before.holds_lock:
                reasons.add("lock")
            if self.months.get(month, Decimal(0)) + fee > after.order.month_cap:
                reasons.add("month")
        if reasons:
            return effects.ConditionFailed(frozenset(reasons))
        self.records[name] = after
        if fee:
            self.months[month] = self.months.get(month, Decimal(0)) + fee
        if after.holds_lock and not before.holds_lock:
            self.locks[lock] = name
        elif before.holds_lock and not after.holds_lock:
            del self.locks[lock]
        return effects.Committed()

    # EC2

    def _send(self, request: Request, fault: str, name: str) -> Any:
        if fault == "late-after":
            arrives = self.now + timedelta(minutes=10)
            self.late.append((arrives, Simulation.execute, (request, timedelta(0), name)))
            return aws_errors.classify_send_error(EXCEPTIONS[fault]())
        if fault.endswith("-after") and fault != "die-after":
            self.execute(request, timedelta(0), name)
        if fault in EXCEPTIONS:
            return aws_errors.classify_send_error(EXCEPTIONS[fault]())
        lag = LAG if fault in {"lag", "die-after"} else timedelta(seconds=2)
        answer = self.execute(request, lag, name)
        if not isinstance(answer, effects.Bought) or fault != "double-ids":
            return answer
        return replace(answer, reservation_ids=answer.reservation_ids * 2)

    def execute(self, request: Request, lag: timedelta, name: str) -> Any:
        """Do what EC2 does with a request that arrived."""
        if isinstance(request, PurchaseBlock):
            offer = next(item for item in self.offerings if item.offering_id == request.offering_id)
            fee, start, end = offer.fee, offer.start, offer.end
        elif isinstance(request, PurchaseExtension):
            fee, start, end = self.extension_fee, self.extension_end, self.extension_end + timedelta(days=1)
            self.extension_end = end
        else:
            for earlier in self.bought:
                if isinstance(earlier.request, CreateReservation) and (
                    earlier.request.client_token == request.client_token
                ):
                    return effects.Bought(reservation_ids=earlier.ids)
            fee, start, end = Decimal(0), self.now, request.end
        number = len(self.bought)
        quoted = self.records[name].fee if name in self.records else None
        ids = tuple(f"cr-{number:08x}{part:09x}" for part in range(self.segments))
        blocks: tuple[str, ...] = ()
        if isinstance(request, PurchaseExtension):
            ids = (request.reservation_id,)
        elif isinstance(request, PurchaseBlock) and request.ultraserver:
            blocks = (f"cb-{number:08x}",)
        self.bought.append(
            Bought(
                order_name=name,
                request=request,
                at=self.now,
                visible_at=self.now + lag,
                fee=fee,
                quoted=quoted if quoted is not None else fee,
                ids=ids,
                block_ids=blocks,
                start=start,
                end=end,
                pays=not self.payment_fails,
            )
        )
        said = fee if isinstance(request, PurchaseExtension) else None  # as EC2 says it
        return effects.Bought(reservation_ids=ids, block_ids=blocks, fee=said)

    def _state(self, item: Bought, *, pending: str, good: str, bad: str) -> str:
        if self.now < item.at + PAYMENT:
            return pending
        return good if item.pays else bad

    def _reservations(self, *, stale: bool) -> list[Reservation]:
        owned = replace(OWNED_BLOCK, end=self.extension_end)

        def shown(item: Bought, reservation_id: str) -> Reservation:
            state, kind = "active", "default"
            if not isinstance(item.request, CreateReservation):
                kind = "capacity-block"
                state = self._state(item, pending="payment-pending", good="scheduled", bad="payment-failed")
            return replace(
                owned,
                reservation_id=reservation_id,
                state=state,
                reservation_type=kind,
                start=item.start,
                end=item.end,
                created=item.at,
                order_name=getattr(item.request, "order_name", None),
            )

        return [
            owned,
            *(
                shown(item, reservation_id)
                for item in self.bought
                if not isinstance(item.request, PurchaseExtension) and self._visible(item, stale=stale)
                for reservation_id in item.ids
            ),
        ]

    def _visible(self, item: Bought, *, stale: bool) -> bool:
        return item.visible_at + (LAG if stale else timedelta(0)) <= self.now

    def _read(self, effect: Any, fault: str) -> Any:
        if isinstance(effect, effects.ReadRecord):
            return self.records.get(effect.name)
        if isinstance(effect, effects.ReadOrders):
            return list(self.records.values())
        if isinstance(effect, effects.ReadClock):
            return self.now
        if isinstance(effect, effects.GetCallerAccount):
            return ACCOUNT
        if fault == "empty-page":
            return effects.Page(items=(), next_token="more")
        items = self._listing(effect, stale=fault == "stale")
        if fault == "duplicate-items":
            items = [*items, *items]
        return effects.Page(items=tuple(items))

    def _listing(self, effect: Any, *, stale: bool) -> list[Any]:
        if isinstance(effect, effects.DescribeReservations):
            return self._reservations(stale=stale)
        if isinstance(effect, effects.DescribeOfferings):
            return list(self.offerings)
        if isinstance(effect, effects.DescribeExtensionOfferings):
            end = self.extension_end
            return [
                ExtensionOffering(
                    offering_id=offering_id,
                    reservation_id=effect.reservation_id,
                    start=end,
                    end=end + timedelta(days=1),
                    hours=24,
                    fee=fee,
                    currency="USD",
                )
                for offering_id, fee in (("cbe-9000", self.extension_fee), ("cbe-99000", Decimal(99000)))
            ]
        visible = [item for item in self.bought if self._visible(item, stale=stale)]
        if isinstance(effect, effects.DescribeBlocks):
            return [
                Block(
                    block_id=block_id,
                    state=self._state(
                        item, pending="payment-pending", good="scheduled", bad="payment-failed"
                    ),
                    reservation_ids=item.ids,
                    order_name=item.request.order_name if isinstance(item.request, PurchaseBlock) else None,
                )
                for item in visible
                for block_id in item.block_ids
            ]
        return [
            Extension(
                offering_id=item.request.offering_id,
                reservation_id=item.request.reservation_id,
                status=self._state(
                    item, pending="payment-pending", good="payment-succeeded", bad="payment-failed"
                ),
                purchased_at=item.at,
                start=item.start,
                fee=item.fee,
            )
            for item in visible
            if isinstance(item.request, PurchaseExtension)
        ]

    def bought_for(self, name: str) -> list[Bought]:
        """The purchases that were executed for an order."""
        return [item for item in self.bought if item.order_name == name]


class Process(Running):
    """One process that runs a protocol, one effect at a time."""

    def __init__(self, simulation: Simulation, name: str, steps: Generator[Any, Any, Any]) -> None:
        super().__init__(steps, self._perform_and_note)
        self.simulation, self.name = simulation, name
        self.unread: set[Any] = set()
        self.clock_ahead = timedelta(0)  # besides that of the simulation
        self.last_read: dict[str, Decimal] = {}
        self.dry_run_passed = False

    def step(self) -> bool:
        """Perform one effect; it may be the last one of the process."""
        try:
            return super().step()
        except ProcessDiedError:
            self.done = True
            self.steps.close()
            return False

    def _perform_and_note(self, effect: Any) -> Any:
        reply = self.simulation.perform(effect, self)
        if isinstance(effect, READS):
            (self.unread.add if isinstance(reply, effects.ReadFailed) else self.unread.discard)(effect)
        if isinstance(effect, effects.DescribeOfferings | effects.DescribeExtensionOfferings) and isinstance(
            reply, effects.Page
        ):
            self.last_read |= {item.offering_id: item.fee for item in reply.items}
        if isinstance(effect, effects.DryRun):
            self.dry_run_passed = isinstance(reply, effects.DryRunPassed)
        return reply
