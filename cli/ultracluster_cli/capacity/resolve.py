"""`ultracluster capacity resolve`: write what orders have bought into the rollout that names them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ultracluster_cli.capacity.session import open_session
from ultracluster_cli.options import (
    JsonOption,
    LedgerOption,
    LedgerRegionOption,
    ProfileOption,
    RolloutArgument,
    WriteOption,
)
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.purchasing.order_states import OrderState
from ultracluster_runtime.purchasing.orders import ExtensionOrder, order_token
from ultracluster_runtime.purchasing.pagination import edited_ledger, unknown_order
from ultracluster_runtime.purchasing.records import Record
from ultracluster_stacks.config.editing.order_references import OrderedCapacity, ordered_capacity
from ultracluster_stacks.config.loading.loader import rollout_findings
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values

__all__ = ["bought", "resolve"]


def resolve(
    rollout: RolloutArgument,
    *,
    write: WriteOption = False,
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the orders of a rollout have bought; --write puts it into the file."""
    places = ordered_capacity(rollout)
    records = open_session(profile=profile, ledger=ledger, ledger_region=ledger_region).ledger.orders()
    rows = bought(places, records)
    if write:
        values = {
            (*place.loc, name): row[name]
            for place, row in zip(places, rows, strict=True)
            for name in ("reservation_id", "start", "end")
            if row[name] is not None
        }
        # Two parts up from its first capacity is the cluster.
        values |= {
            (*place.loc[:-1], "zone_id"): row["zone_id"]
            for place, row in zip(places, rows, strict=True)
            if place.gives_zone
        }
        text = set_values(read_source_file(rollout), values)
        rollout.write_text(text, encoding="utf-8", newline="")
        print_findings(rollout_findings(rollout))
    if as_json:
        print_json({"capacity": rows, "written": write})
        return
    print_table(columns=list(rows[0]) if rows else [], rows=rows)
    say(f"{rollout} is written" if write else "Nothing is written; --write puts it into the rollout")


def bought(places: Sequence[OrderedCapacity], records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return what each capacity of a rollout got, in the order of the file.

    Args:
        places: What names orders.
        records: The ledger. An extension moves the end of what its block's order bought.

    Raises:
        FindingsError: With all that is wrong: UC7020 for an order that the ledger does not hold, UC7025 for terms that
            are not those that were approved, UC2222 for one that has not bought one reservation, UC2221 for one that is
            for something else.
    """
    by_name = {record.order.name: record for record in records}
    rows = []
    findings: list[Finding] = []
    for place in places:
        record = by_name.get(place.order)
        wrong = list(_unusable(place, record)) if record else [_unknown(place, by_name)]
        findings += wrong
        if record is None or wrong:
            continue
        (reservation_id,), (zone_id,) = record.reservation_ids, record.zone_ids
        rows.append(
            {
                "cluster": place.cluster,
                "capacity": place.path,
                "order": place.order,
                "state": record.state.value,
                "reservation_id": reservation_id,
                "zone_id": zone_id,
                "start": _utc(record.start),
                "end": _utc(_end(record, records)),
            }
        )
    if findings:
        raise FindingsError(findings)
    return rows


def _unknown(place: OrderedCapacity, known: Mapping[str, Any]) -> Finding:
    allowed = ", ".join(sorted(known)) or "the ledger is empty"
    (finding,) = unknown_order(place.order, allowed=allowed, path=f"{place.cluster}.{place.path}").findings
    return finding


def _unusable(place: OrderedCapacity, record: Record) -> Iterator[Finding]:
    path = f"{place.cluster}.{place.path}"
    if order_token(record.order) != record.token:
        problem = f"the terms of order {quote(place.order)} are not those that were approved"
        remedy = "Somebody edited the ledger; approve a new order"
        yield from edited_ledger(problem, remedy=remedy, path=path).findings
        return
    order: Any = record.order
    if isinstance(order, ExtensionOrder):
        problem = f"{place.order} is an extension"
        remedy = "Name the order of the block; its end follows its extensions"
        yield Finding(code="UC2221", problem=problem, remedy=remedy, path=path)
        return
    if record.state not in {OrderState.PURCHASED, OrderState.PAID}:
        problem = f"the order {place.order} is {record.state.value}"
        remedy = "`ultracluster capacity status` says why; what is APPROVED is bought by `ultracluster capacity buy`"
        yield Finding(code="UC2222", problem=problem, remedy=remedy, path=path)
        return
    if len(record.reservation_ids) != 1 or len(record.zone_ids) != 1:
        problem = f"the order {place.order} has {len(record.reservation_ids)} reservations in {len(record.zone_ids)} zones"
        remedy = (
            "Each reservation is the capacity of a cluster of its own: give reservation_id instead of order"
        )
        yield Finding(code="UC2222", problem=problem, remedy=remedy, path=path)
        return
    bought_for = {
        "market_type": (place.market_type, order.kind),
        "Region": (place.region, record.region),
        "instance type": (place.instance_type, order.instance_type or place.instance_type),
    }
    if not place.gives_zone:
        bought_for["zone"] = (place.zone_id, record.zone_ids[0])
    for what, (wanted, got) in bought_for.items():
        if wanted != got:
            problem = f"the {what} is {wanted}, and the order {place.order} is for {got}"
            yield Finding(
                code="UC2221", problem=problem, remedy="Name another order, or change the cluster", path=path
            )
    if order.instance_type is not None and place.nodes > order.count:
        problem = f"{place.nodes} nodes, and the order {place.order} is for {order.count} instances"
        yield Finding(code="UC2221", problem=problem, remedy="Set max_nodes, or fewer nodes", path=path)


def _end(record: Record, records: Sequence[Record]) -> datetime | None:
    # An extension that is not paid leaves the old end standing.
    later = [
        other.end
        for other in records
        if isinstance(other.order, ExtensionOrder)
        and other.order.reservation_id in record.reservation_ids
        and other.state is OrderState.PAID
        and other.end is not None
    ]
    return max([*later, *([record.end] if record.end else [])], default=None)


def _utc(time: datetime | None) -> str | None:
    return time.isoformat().replace("+00:00", "Z") if time else None
