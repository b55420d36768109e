"""Choose what to buy: the best offering that meets every term of an order, or the reasons why there is none."""

from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Final

from ultracluster_catalog.capacity.capacity_blocks import EXTENSION_CLOSES, EXTENSION_OPENS, LONGEST_BLOCK
from ultracluster_runtime.purchasing import effects
from ultracluster_runtime.purchasing.ec2_objects import (
    CreateReservation,
    Extension,
    ExtensionOffering,
    PurchaseBlock,
    PurchaseExtension,
    Quote,
    Reservation,
)
from ultracluster_runtime.purchasing.fold import iterate_pages
from ultracluster_runtime.purchasing.offerings import Offering, rank_offerings
from ultracluster_runtime.purchasing.orders import (
    BlockOrder,
    ExtensionOrder,
    OnDemandOrder,
    Order,
)
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

_EXTENSIBLE = frozenset({"active", "scheduled"})
_PENDING = "payment-pending"

NO_OFFER: Final = "UC7027"
"""Code of a refusal because nothing on offer meets the terms."""

CHANGED_OFFER: Final = "UC7050"
"""Code of a refusal because the offering is not what was confirmed."""

_REASONS_SHOWN = 5


def choose_quote(order: Order, *, now: datetime) -> effects.Steps[Quote]:
    """Return the best offering that meets every term (UC7027).

    The block to extend must be as expected (UC7028), and no other extension of it in progress (UC7029).
    """
    return (yield from _read_quote(order, now, None))


def read_quote_again(order: Order, confirmed: Quote, *, now: datetime) -> effects.Steps[Quote]:
    """Return the confirmed quote as AWS offers it now: its fee may have fallen, anything else must be the same (UC7050)."""
    quote: Quote = yield from _read_quote(order, now, confirmed)
    after = _described(quote)
    changes = [
        f"{name} {value} is now {after[name]}"
        for name, value in _described(confirmed).items()
        if value != after[name]
    ]
    if quote.fee > confirmed.fee:
        changes.append(f"the fee {confirmed.fee} is now {quote.fee}")
    if changes:
        raise FindingsError.of(
            CHANGED_OFFER,
            f"the confirmed quote of order {order.name} has changed: {', '.join(changes)}",
            remedy="Nothing was sent; run the command again to confirm the new quote",
        )
    return quote


def _described(quote: Quote) -> dict[str, object]:
    """Return the parts of a quote that a person confirms, except for the fee."""
    described: dict[str, object] = {"the end": quote.end.isoformat(), "the zone": ", ".join(quote.zone_ids)}
    if quote.offering_id is not None:  # a reservation without an offering starts when it is created
        described["the start"] = quote.start.isoformat()
    if quote.offering is not None:
        described["the number of instances"] = quote.offering.instance_count
        described["the duration"] = quote.offering.duration
    return described


def _read_quote(order: Order, now: datetime, confirmed: Quote | None) -> effects.Steps[Quote]:
    """Return the best quote, or what was confirmed before as it is now."""
    if isinstance(order, BlockOrder):
        return (yield from _block_quote(order, confirmed))
    if isinstance(order, ExtensionOrder):
        return (yield from _extension_quote(order, now, confirmed))
    if isinstance(order, OnDemandOrder):
        return _on_demand_quote(order, now)
    raise TypeError(f"unknown kind of order: {type(order).__name__}")


def _over_cap(order: Order, fee: Decimal, currency: str) -> list[str]:
    broken = []
    if currency != order.currency:
        broken.append(f"the currency is {currency}, not {order.currency}")
    elif fee > order.max_fee:
        broken.append(f"the fee {fee} is above the cap {order.max_fee}")
    return broken


def violated_terms(order: BlockOrder, offering: Offering) -> list[str]:
    """Return the terms of an order that an offering violates; empty if it may be bought."""
    return [
        *_over_cap(order, offering.fee, offering.currency),
        *_broken_size(order, offering),
        *_broken_place_and_time(order, offering),
    ]


def _broken_size(order: BlockOrder, offering: Offering) -> list[str]:
    broken = []
    if order.ultraserver_type is not None:
        if (
            offering.ultraserver_type != order.ultraserver_type
            or offering.ultraserver_count not in order.counts
        ):
            broken.append(f"it is {offering.ultraserver_count} of UltraServer {offering.ultraserver_type}")
    elif offering.ultraserver_type is not None or offering.instance_count not in order.counts:
        broken.append(f"it has {offering.instance_count} instances")
    if order.instance_type is not None:
        types = {offering.instance_type, *(segment.instance_type for segment in offering.segments)}
        if types != {order.instance_type}:
            broken.append(f"it has instances of type {', '.join(sorted(map(str, types)))}")
    return broken


def _broken_place_and_time(order: BlockOrder, offering: Offering) -> list[str]:
    broken = []
    if offering.region not in order.regions:
        broken.append(f"it is in {offering.region}")
    if order.zone_ids and not (offering.zone_ids and set(offering.zone_ids) <= set(order.zone_ids)):
        broken.append(f"it is in zone {', '.join(offering.zone_ids) or offering.zone}")
    if not order.start_after <= offering.start <= order.start_before:
        broken.append(f"it starts at {offering.start.isoformat()}")
    if order.end_by is not None and offering.end > order.end_by:
        broken.append(f"it ends at {offering.end.isoformat()}")
    if not timedelta(hours=order.min_hours) <= offering.duration <= timedelta(hours=order.max_hours):
        broken.append(f"it lasts {offering.duration}")
    return broken


def _no_offer(kind: str, broken: list[str]) -> Exception:
    examples = "; ".join(broken[:_REASONS_SHOWN])
    return FindingsError.of(
        NO_OFFER,
        f"no {kind} meets the terms" + (f": {examples}" if examples else ": AWS offered none"),
        remedy="Search offerings with `ultracluster capacity find`, and approve an order with other terms",
    )


def _offerings(order: BlockOrder, count: int, confirmed: Quote | None) -> effects.Steps[list[Offering]]:
    """Return the offerings of one size, or of them the one that was confirmed."""
    offered: dict[str, Offering] = {}
    latest_end = order.start_before + timedelta(hours=order.max_hours)
    for region in order.regions if confirmed is None else (confirmed.request.region,):
        for hours in order.request_hours:
            describe = partial(
                effects.DescribeOfferings,
                region=region,
                instance_type=order.instance_type,
                ultraserver_type=order.ultraserver_type,
                count=count,
                hours=hours,
                start_after=order.start_after,
                end_by=order.end_by or latest_end,
            )
            offerings: list[Offering] = yield from iterate_pages(describe, f"the offerings in {region}")
            offered |= {
                offering.offering_id: offering
                for offering in offerings
                if confirmed is None or offering.offering_id == confirmed.offering_id
            }
    return [*offered.values()]


def _block_quote(order: BlockOrder, confirmed: Quote | None) -> effects.Steps[Quote]:
    broken: dict[str, str] = {}
    valid: list[Offering] = []
    for count in order.counts:
        offerings: list[Offering] = yield from _offerings(order, count, confirmed)
        for offer in offerings:
            if reasons := violated_terms(order, offer):
                broken[offer.offering_id] = f"{offer.offering_id}: {', '.join(reasons)}"
            else:
                valid.append(offer)
        if valid:  # the largest size that is on offer
            break
    if not valid:
        raise _no_offer("offering", [*broken.values()])
    most = max(offer.instance_count for offer in valid)
    best = rank_offerings([offer for offer in valid if offer.instance_count == most], by=order.prefer)[0]
    request = PurchaseBlock(
        region=best.region,
        offering_id=best.offering_id,
        platform=order.platform,
        order_name=order.name,
        ultraserver=order.ultraserver_type is not None,
    )
    return Quote(
        request=request,
        offering_id=best.offering_id,
        fee=best.fee,
        currency=best.currency,
        start=best.start,
        end=best.end,
        zone_ids=best.zone_ids,
        offering=best,
    )


def _not_extensible(order: ExtensionOrder, reservation: Reservation, now: datetime) -> str:
    if reservation.reservation_type != "capacity-block":
        return f"is of type {reservation.reservation_type}; only Capacity Blocks can be extended"
    if reservation.state not in _EXTENSIBLE:
        return f"is {reservation.state}; only active and scheduled blocks can be extended"
    if reservation.end != order.expected_end or reservation.start is None:
        ends = reservation.end.isoformat() if reservation.end else "never"
        return f"ends {ends}, not {order.expected_end.isoformat()}; it may have been extended already"
    if not now + EXTENSION_CLOSES <= order.expected_end <= now + EXTENSION_OPENS:
        return f"ends at {order.expected_end.isoformat()}; extensions are sold from 57 days to 1 hour before that"
    if order.expected_end - reservation.start + timedelta(hours=order.extension_hours) > LONGEST_BLOCK:
        return f"would be longer than {LONGEST_BLOCK.days} days in all"
    return ""


def _guard_extension(order: ExtensionOrder, now: datetime) -> effects.Steps[Reservation]:
    reservations = partial(effects.DescribeReservations, region=order.region)
    history = partial(
        effects.DescribeExtensionHistory, region=order.region, reservation_id=order.reservation_id
    )
    listed: list[Reservation] = yield from iterate_pages(reservations, "the Capacity Reservations")
    reservation = next((item for item in listed if item.reservation_id == order.reservation_id), None)
    problem = "does not exist" if reservation is None else _not_extensible(order, reservation, now)
    if reservation is None or problem:
        raise FindingsError.of(
            "UC7028", f"{order.reservation_id} in {order.region} {problem}", remedy="Nothing was bought"
        )
    extensions: list[Extension] = yield from iterate_pages(history, "the history of extensions")
    # AWS filters the history; filter again, because an entry of another block is no evidence.
    if any(item.status == _PENDING and item.reservation_id == order.reservation_id for item in extensions):
        raise FindingsError.of(
            "UC7029",
            f"the payment of an extension of {order.reservation_id} is pending",
            remedy="Wait until it is confirmed or fails; AWS allows one extension at a time",
        )
    return reservation


def _extension_quote(order: ExtensionOrder, now: datetime, confirmed: Quote | None) -> effects.Steps[Quote]:
    reservation: Reservation = yield from _guard_extension(order, now)
    describe = partial(
        effects.DescribeExtensionOfferings,
        region=order.region,
        reservation_id=order.reservation_id,
        hours=order.extension_hours,
    )
    offered: list[ExtensionOffering] = yield from iterate_pages(describe, "the extension offerings")
    valid: list[ExtensionOffering] = []
    broken: list[str] = []
    for offer in offered:
        if confirmed is not None and offer.offering_id != confirmed.offering_id:
            continue
        reasons = _over_cap(order, offer.fee, offer.currency)
        if offer.reservation_id != order.reservation_id:
            reasons.append(f"it extends {offer.reservation_id}")
        if offer.start != order.expected_end:
            reasons.append(f"it starts at {offer.start.isoformat()}")
        if offer.hours != order.extension_hours:
            reasons.append(f"it lasts {offer.hours} hours")
        elif offer.end - offer.start != timedelta(hours=offer.hours):
            reasons.append(f"it ends at {offer.end.isoformat()}, not after {offer.hours} hours")
        if reasons:
            broken.append(f"{offer.offering_id}: {', '.join(reasons)}")
        else:
            valid.append(offer)
    if not valid:
        raise _no_offer("extension", broken)
    best = min(valid, key=lambda offer: (offer.fee, offer.offering_id))
    request = PurchaseExtension(
        region=order.region, offering_id=best.offering_id, reservation_id=order.reservation_id
    )
    return Quote(
        request=request,
        offering_id=best.offering_id,
        fee=best.fee,
        currency=best.currency,
        start=best.start,
        end=best.end,
        zone_ids=(reservation.zone_id,) if reservation.zone_id else (),
    )


def _on_demand_quote(order: OnDemandOrder, now: datetime) -> Quote:
    fee = order.max_cost(now)
    broken = _over_cap(order, fee, order.currency)
    if order.end <= now:
        broken.append(f"its end {order.end.isoformat()} is in the past")
    if broken:
        raise _no_offer("reservation", broken)
    request = CreateReservation(
        region=order.region,
        instance_type=order.instance_type,
        count=order.count,
        platform=order.platform,
        zone_id=order.zone_id,
        end=order.end,
        placement_group_arn=order.placement_group_arn,
        client_token=f"{order.name}-{order.token}"[:64],
        order_name=order.name,
    )
    return Quote(
        request=request,
        offering_id=None,
        fee=fee,
        currency=order.currency,
        start=now,
        end=order.end,
        zone_ids=(order.zone_id,),
    )


RECORDS: Final = (
    RuleRecord(
        "UC7027",
        "Nothing is bought that violates a term of its order.",
        remedy="The finding lists the term that each offering violates. Search with `ultracluster capacity find`, and approve an order with other terms, or try again later.",
        source="Our decision: the terms that a person approved are the only ones.",
    ),
    RuleRecord(
        "UC7028",
        "A block is extended only in the state that the order expects.",
        remedy="Check the block with `ultracluster capacity status`, and approve an extension of its current state. Nothing was bought.",
        source="EC2 user guide, extend Capacity Blocks, 2026-10: while active or scheduled, until one hour before the end.",
    ),
    RuleRecord(
        "UC7029",
        "A block has at most one extension in progress.",
        remedy="Wait until the other extension is paid or has failed.",
        source="EC2 user guide, extend Capacity Blocks, 2026-10: one pending extension at a time.",
    ),
    RuleRecord(
        "UC7050",
        "What is bought is what was confirmed.",
        remedy="Nothing was sent. Run the command again and confirm the new quote.",
        source="Our decision: offerings are not held, and a person approved the terms that were shown.",
    ),
)
