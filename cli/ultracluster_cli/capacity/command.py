"""`ultracluster capacity`: find, approve, buy, extend, reserve and verify capacity."""

import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_cli.capacity.approve import approve, extend, reserve
from ultracluster_cli.capacity.find import find
from ultracluster_cli.capacity.options import (
    BesidesOption,
    LedgerOptions,
    OrderArgument,
    RehearsedRolloutOption,
)
from ultracluster_cli.capacity.place import place
from ultracluster_cli.capacity.resolve import resolve
from ultracluster_cli.capacity.session import (
    echo_rehearsals,
    open_session,
    show_outcome,
    show_records,
)
from ultracluster_cli.capacity.verify import verify
from ultracluster_cli.options import JsonOption, command_group, with_option_groups
from ultracluster_cli.output import echo, print_json, print_table, short_time
from ultracluster_cli.progress import if_interrupted
from ultracluster_runtime.purchasing.fold import unknown_order
from ultracluster_runtime.purchasing.operator_actions import cancel as cancel_order
from ultracluster_runtime.purchasing.operator_actions import close
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_runtime.purchasing.purchase import buy as buy_order
from ultracluster_runtime.purchasing.reconcile import reconcile as reconcile_order
from ultracluster_runtime.purchasing.wait import buy_when_offered, refuse_to_wait

PARAMETER_PREFIX = "/ultracluster/capacity"

app = command_group("Find Capacity Blocks, buy each at most once, and verify their use.")


app.command()(find)
app.command()(with_option_groups(approve))
app.command()(with_option_groups(extend))
app.command()(with_option_groups(reserve))
app.command()(with_option_groups(resolve))
app.command()(place)
app.command()(verify)


@app.command()
@with_option_groups
def buy(
    order: OrderArgument,
    *,
    token: Annotated[str | None, typer.Option(help="Token of the order, to buy without a prompt.")] = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the capacity settings for a rollout to this file.")
    ] = None,
    parameter: Annotated[
        bool, typer.Option("--parameter", help="Also write them to an SSM parameter in the block's Region.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait until AWS offers what the order is for; needs --token."),
    ] = False,
    every: Annotated[
        int, typer.Option("--every", min=1, max=60, help="With --wait, minutes between two searches.")
    ] = 5,
    rollout: RehearsedRolloutOption = None,
    besides: BesidesOption = None,
    ledger: LedgerOptions,
    as_json: JsonOption = False,
) -> None:
    """Buy the capacity of an approved order, at most once."""
    if wait and token is None:
        raise refuse_to_wait(
            "--wait buys without asking, and got no --token", remedy="Specify the token of the order"
        )
    session = open_session(ledger, token, besides=besides or ())
    approved = session.ledger.read(order)
    nonce = uuid.uuid4().hex
    steps = buy_order(order, nonce=nonce)
    if isinstance(approved, Record) and approved.state is OrderState.APPROVED:
        if wait and token != approved.token:
            remedy = f"`ultracluster capacity status {order} --json` shows it"
            raise refuse_to_wait(f"the token is not that of order {order}", remedy=remedy)
        echo_rehearsals(approved.order, session, rollout)
        if wait:
            until = short_time(approved.order.expires_at)
            echo(
                f"Searching every {every} minutes until {until}. Stop it with Ctrl-C: nothing is held or bought before."
            )
            steps = buy_when_offered(order, nonce=nonce, every=timedelta(minutes=every))
    with if_interrupted(
        f"`ultracluster capacity status {order}` shows how far the order came. To go on, type the command again: it buys at most once."
    ):
        outcome = session.run(steps)
    record = outcome.record
    outputs: dict[str, Callable[[], object]] = {}
    if record.reservation_ids and write is not None:
        outputs[f"file {str(write)!r}"] = lambda: write.write_text(fragment(record), encoding="utf-8")
    if record.reservation_ids and parameter and (region := record.region):
        outputs["SSM parameter"] = lambda: echo(
            f"Wrote {write_parameter(record, session.clients('ssm', region))}."
        )
    show_outcome(outcome, as_json=as_json, outputs=outputs)


@app.command()
@with_option_groups
def status(
    order: Annotated[
        str | None, typer.Argument(metavar="[ORDER]", help="Order to show. Default: all.")
    ] = None,
    *,
    ledger: LedgerOptions,
    as_json: JsonOption = False,
) -> None:
    """Show orders in the capacity ledger."""
    records = open_session(ledger).ledger.orders()
    if order is not None:
        records = [record for record in records if record.order.name == order]
        if not records:
            raise unknown_order(order)
    show_records(records, as_json=as_json)


@app.command()
@with_option_groups
def reconcile(
    order: OrderArgument,
    *,
    nothing_bought: Annotated[
        bool,
        typer.Option(
            "--nothing-bought", help="Close an UNKNOWN order that you have verified bought nothing."
        ),
    ] = False,
    evidence: Annotated[str, typer.Option(help="Evidence for --nothing-bought.")] = "",
    ledger: LedgerOptions,
    as_json: JsonOption = False,
) -> None:
    """Update an order from the state of EC2, without changing EC2."""
    session = open_session(ledger)
    steps = close(order, evidence=evidence) if nothing_bought else reconcile_order(order)
    show_outcome(session.run(steps), as_json=as_json)


@app.command()
@with_option_groups
def history(order: OrderArgument, *, ledger: LedgerOptions, as_json: JsonOption = False) -> None:
    """Show the history of an order."""
    events = open_session(ledger).ledger.history(order)
    if not events:
        raise unknown_order(order)
    rows = [
        {
            "version": event.version,
            "state": event.state.value,
            "at": event.at.isoformat(timespec="seconds"),
            "reason": event.reason,
        }
        for event in events
    ]
    if as_json:
        print_json(order=order, events=rows)
    else:
        print_table(rows)


@app.command()
@with_option_groups
def cancel(order: OrderArgument, *, ledger: LedgerOptions, as_json: JsonOption = False) -> None:
    """Withdraw an approval or cancel an On-Demand Capacity Reservation.

    Capacity Blocks cannot be cancelled.
    """
    session = open_session(ledger)
    show_outcome(session.run(cancel_order(order)), as_json=as_json)


def _facts(record: Record) -> dict[str, Any]:
    return {
        "order": record.order.name,
        "region": record.region,
        "zone_ids": list(record.zone_ids),
        "reservation_ids": list(record.reservation_ids),
        "start": record.start.isoformat() if record.start else None,
        "end": record.end.isoformat() if record.end else None,
    }


def _time(text: str | None) -> str:
    return f'"{text.replace("+00:00", "Z")}"' if text else "null"


def fragment(record: Record) -> str:
    """Return the capacity settings of a cluster as YAML, with one part for each reservation."""
    facts = _facts(record)
    market = "on-demand" if record.order.kind == "on-demand" else "capacity-block"
    parts = [f"# order {record.order.name}: {record.state.value}"]
    parts += [
        "\n".join(
            [
                f"region: {record.region}",
                f"zone_id: {', '.join(record.zone_ids) or 'null'}",
                "capacity:",
                f"  market_type: {market}",
                f"  reservation_id: {reservation_id}",
                f"  start: {_time(facts['start'])}",
                f"  end: {_time(facts['end'])}",
            ]
        )
        for reservation_id in record.reservation_ids
    ]
    if len(record.reservation_ids) > 1:
        parts.insert(1, f"# {len(record.reservation_ids)} reservations: use each for a separate cluster")
    return "\n".join(parts) + "\n"


def write_parameter(record: Record, client: Any) -> str:
    """Write the same settings to an SSM parameter as JSON, and return its name."""
    name = f"{PARAMETER_PREFIX}/{record.order.cluster}/{record.order.name}"
    client.put_parameter(Name=name, Value=json.dumps(_facts(record)), Type="String", Overwrite=True)
    return name
