"""`ultracluster capacity resolve`: update a rollout with the capacity that its orders have bought."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ultracluster_cli.capacity.options import LedgerOptions
from ultracluster_cli.capacity.session import open_session
from ultracluster_cli.options import JsonOption, RolloutArgument, WriteOption
from ultracluster_cli.output import echo, print_findings, print_json, print_table
from ultracluster_runtime.purchasing.fold import edited_ledger, unknown_order
from ultracluster_runtime.purchasing.orders import ExtensionOrder, OrderState, Record
from ultracluster_spec.findings import Finding, quote, reject
from ultracluster_stacks.config.editing import (
    OrderedCapacity,
    load_editable,
    ordered_capacity,
    update_rollout,
)


def resolve(
    rollout: RolloutArgument,
    *,
    write: WriteOption = False,
    ledger: LedgerOptions,
    as_json: JsonOption = False,
) -> None:
    """Show the capacity that the orders of a rollout have bought."""
    places = list(ordered_capacity(load_editable(rollout)))
    records = open_session(ledger).ledger.orders()
    rows = purchased_capacity(places, records)
    if write:
        values = {
            (*place.loc, name): row[name]
            for place, row in zip(places, rows, strict=True)
            for name in ("reservation_id", "start", "end")
            if row[name] is not None
        }
        # The cluster is the parent of its first capacity.
        values |= {
            (*place.loc[:-1], "zone_id"): row["zone_id"]
            for place, row in zip(places, rows, strict=True)
            if place.gives_zone
        }
        print_findings(update_rollout(rollout, values))
    if as_json:
        print_json(capacity=rows, written=write)
        return
    print_table(rows)
    echo(f"Updated {rollout}." if write else "Nothing written; use --write to update the rollout.")


def purchased_capacity(places: Sequence[OrderedCapacity], records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the purchased capacity of a rollout, in the order of the file."""
    by_name = {record.order.name: record for record in records}
    rows = []
    findings: list[Finding] = []
    for place in places:
        record = by_name.get(place.order)
        path = f"{place.cluster.name}.{place.path}"
        findings_of_order = _order_findings(place, record, path) if record else _unknown(place, by_name, path)
        problems = list(findings_of_order)
        findings += problems
        if record is None or problems:
            continue
        (reservation_id,), (zone_id,) = record.reservation_ids, record.zone_ids
        rows.append(
            {
                "cluster": place.cluster.name,
                "capacity": place.path,
                "order": place.order,
                "state": record.state.value,
                "reservation_id": reservation_id,
                "zone_id": zone_id,
                "start": _utc(record.start),
                "end": _utc(_end_with_extensions(record, records)),
            }
        )
    reject(findings)
    return rows


def _unknown(place: OrderedCapacity, records: Mapping[str, Any], path: str) -> Sequence[Finding]:
    allowed = ", ".join(sorted(records)) or "the ledger is empty"
    return unknown_order(place.order, allowed=allowed, path=path).findings


def _order_findings(place: OrderedCapacity, record: Record, path: str) -> Iterator[Finding]:
    cluster = place.cluster
    if record.order.token != record.token:
        problem = f"the terms of order {quote(place.order)} differ from the approved terms"
        remedy = "The ledger was edited; approve a new order"
        yield from edited_ledger(problem, remedy=remedy, path=path).findings
        return
    order: Any = record.order
    if isinstance(order, ExtensionOrder):
        problem = f"{place.order} is an extension"
        remedy = "Name the order of the block, whose end includes its extensions"
        yield Finding.message(problem, remedy=remedy, path=path)
        return
    if record.state not in {OrderState.PURCHASED, OrderState.PAID}:
        problem = f"order {place.order} is {record.state.value}"
        remedy = "See `ultracluster capacity status` for the reason; buy an APPROVED order with `ultracluster capacity buy`"
        yield Finding.message(problem, remedy=remedy, path=path)
        return
    if len(record.reservation_ids) != 1 or len(record.zone_ids) != 1:
        problem = f"order {place.order} has {len(record.reservation_ids)} reservations in {len(record.zone_ids)} zones"
        remedy = "Use each reservation for a separate cluster: specify reservation_id instead of order"
        yield Finding.message(problem, remedy=remedy, path=path)
        return
    comparisons = {
        "market_type": (place.capacity.market_type, order.kind),
        "Region": (cluster.region, record.region),
        "instance type": (cluster.instance_type, order.instance_type or cluster.instance_type),
    }
    if not place.gives_zone:
        comparisons["zone"] = (cluster.zone_id, record.zone_ids[0])
    for name, (expected, actual) in comparisons.items():
        if expected != actual:
            problem = f"the {name} is {expected}, but order {place.order} is for {actual}"
            yield Finding.message(problem, remedy="Name another order, or change the cluster", path=path)
    count = record.count or order.count
    if order.instance_type is not None and place.nodes > count:
        problem = f"{place.nodes} nodes, but order {place.order} is for {count} instances"
        yield Finding.message(problem, remedy="Set max_nodes, or reduce nodes", path=path)


def _end_with_extensions(record: Record, records: Sequence[Record]) -> datetime | None:
    # An unpaid extension does not move the end.
    extended_ends = [
        extension.end
        for extension in records
        if isinstance(extension.order, ExtensionOrder)
        and extension.order.reservation_id in record.reservation_ids
        and extension.state is OrderState.PAID
        and extension.end is not None
    ]
    return max([*extended_ends, *([record.end] if record.end else [])], default=None)


def _utc(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time else None
