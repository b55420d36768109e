"""Open the ledger, confirm purchases, and show orders and rehearsals, for the commands of `ultracluster capacity`."""

import os
import select
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import typer

from ultracluster_cli._aws.rehearsals import describe_rehearsals
from ultracluster_cli._cdk.workspace import ledger_place
from ultracluster_cli.capacity.options import LedgerOptions
from ultracluster_cli.exit_codes import exit_code_of
from ultracluster_cli.options import LEDGER_REGION_VARIABLE, LEDGER_VARIABLE
from ultracluster_cli.output import echo, print_findings, print_json, print_table
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.functions.clients import Clients, patience
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver
from ultracluster_runtime.purchasing.ec2_objects import Quote
from ultracluster_runtime.purchasing.effects import GetCallerAccount, ReadFailed, Steps, perform_all
from ultracluster_runtime.purchasing.fold import unanswered
from ultracluster_runtime.purchasing.ledger import Ledger, unusable_ledger
from ultracluster_runtime.purchasing.orders import BlockOrder, OnDemandOrder, Order, Record
from ultracluster_runtime.purchasing.overlaps import describe_overlap
from ultracluster_runtime.purchasing.purchase import CONFIRM_WITHIN
from ultracluster_runtime.purchasing.reconcile import Outcome
from ultracluster_runtime.records import RECORDS as PURCHASE_RECORDS
from ultracluster_runtime.rollout.rehearsal_record import cluster_digest
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.record import RuleRecord, is_error
from ultracluster_stacks.config import load_rollout

T = TypeVar("T")

_BRIEFLY: Final = patience(attempts=3, read=10)


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """The ledger and the AWS clients of one command."""

    clients: Clients
    ledger: Ledger
    driver: Ec2Driver

    def run(self, steps: Steps[T]) -> T:
        """Run the steps of a purchase."""
        return perform_all(steps, self.driver.perform)

    def account(self) -> str:
        """Return the account ID of the credentials, or raise UC7035 if AWS does not identify them."""
        account = self.driver.perform(GetCallerAccount())
        if isinstance(account, ReadFailed):
            problem = f"the credentials could not be identified: {account.code}: {account.message}"
            raise unanswered(problem)
        return str(account)


def open_session(
    options: LedgerOptions, token: str | None = None, *, besides: Collection[str] = ()
) -> Session:
    """Open a session with the ledger of the options or the environment, or raise UC7021 without one; the token of an order buys it without a prompt."""
    place = ledger_place(options.ledger, options.ledger_region)
    if place is None:
        raise unusable_ledger(
            "no ledger specified",
            remedy=f"Specify --ledger and --ledger-region, or set {LEDGER_VARIABLE} and {LEDGER_REGION_VARIABLE}, or "
            'write "ledger": {"table": ..., "region": ...} into the context of cdk.json; '
            "the CapacityLedger construct creates the table",
        )
    table, region = place
    clients = clients_of(options.profile)
    ledger = Ledger(clients("dynamodb", region, config=_BRIEFLY), table)
    driver = Ec2Driver(
        clients=clients,
        ledger=ledger,
        confirm=lambda order, quote: confirm(order, quote, token),
        accept=lambda order, others: accept(order, others, besides),
    )
    return Session(clients=clients, ledger=ledger, driver=driver)


def accept(order: Order, others: Sequence[Record], besides: Collection[str]) -> bool:
    """Show orders that overlap, and ask for the name of each that `besides` does not have. A token does not answer this."""
    echo(f"Order {order.name} overlaps other orders, so that capacity may be bought twice:")
    for other in others:
        echo(f"  {describe_overlap(other)}")
    unnamed = [other.order.name for other in others if other.order.name not in besides]
    if unnamed and not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return all(_read_line(f"Type '{name}' to go on besides it: ") == name for name in unnamed)


def _read_line(prompt: str) -> str:
    """Ask on the terminal for as long as a quote may be confirmed."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    readable, _, _ = select.select([sys.stdin], [], [], CONFIRM_WITHIN.total_seconds())
    return sys.stdin.readline().strip() if readable else ""


def confirm(order: Order, quote: Quote, token: str | None) -> bool:
    """Prompt for the order's name and total to confirm a purchase.

    Without a terminal, require the token of the order.
    """
    echo(_purchase_terms(order, quote))
    if token is not None:
        if token == order.token:
            return True
        echo("The token does not belong to this order.")
        return False
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        echo(f"No terminal to confirm on. Use --token {order.token} to buy without a prompt.")
        return False
    confirmation = f"{order.name} {quote.fee}"
    return _read_line(f"This cannot be undone. Type '{confirmation}' to buy: ") == confirmation


def _purchase_terms(order: Order, quote: Quote) -> str:
    lines = [
        f"Order {order.name} for cluster {order.cluster}, account {order.account}, approved by {order.approver}:",
        f"  {order.kind} in {quote.request.region}, zone {', '.join(quote.zone_ids) or 'chosen by EC2'}",
        f"  from {quote.start:%Y-%m-%d %H:%M} UTC ({quote.start.astimezone():%Y-%m-%d %H:%M %Z})",
        f"  to   {quote.end:%Y-%m-%d %H:%M} UTC ({quote.end.astimezone():%Y-%m-%d %H:%M %Z})",
        f"  total {quote.fee} {quote.currency} (cap {order.max_fee})",
    ]
    if quote.offering is not None:
        usable = quote.offering.usable_node_hours
        lines.insert(-1, f"  {quote.offering.instance_count} instances, {usable:.1f} usable instance-hours")
    return "\n".join(lines)


def record_row(record: Record) -> dict[str, Any]:
    """Return an order as a row of a table and of the JSON."""
    return {
        "order": record.order.name,
        "kind": record.order.kind,
        "cluster": record.order.cluster,
        "state": record.state.value,
        "fee": str(record.fee) if record.fee is not None else None,
        "cap": str(record.order.max_fee),
        "reservations": ", ".join(record.reservation_ids) or None,
        "start": record.start,
        "end": record.end,
        "zone_ids": ", ".join(record.zone_ids) or None,
        "instances": record.count,
        "changed_at": record.changed_at.isoformat(timespec="seconds"),
        "reason": record.reason or None,
        "token": record.token,
    }


def show_records(records: list[Record], *, as_json: bool) -> None:
    """Print orders."""
    rows = [record_row(record) for record in records]
    if as_json:
        print_json(orders=rows)
    else:
        hidden = {"token", "changed_at"}
        print_table({name: value for name, value in row.items() if name not in hidden} for row in rows)


def show_outcome(
    outcome: Outcome, *, as_json: bool, outputs: Mapping[str, Callable[[], object]] = MappingProxyType({})
) -> None:
    """Print the outcome of an order, write it elsewhere, and exit with its exit code."""
    findings = list(outcome.findings)
    for place, write in {
        "standard output": lambda: _print_outcome(outcome, as_json=as_json),
        **outputs,
    }.items():
        try:
            write()
        except (OSError, *AWS_ERRORS) as error:
            findings.append(_not_shown(outcome.record, place, error))
    errors = [finding for finding in findings if is_error(finding, PURCHASE_RECORDS)]
    if errors:
        print_findings(finding for finding in findings if finding not in errors)
        raise FindingsError(errors)
    print_findings(findings)
    if findings:
        raise typer.Exit(exit_code_of(findings))


def _print_outcome(outcome: Outcome, *, as_json: bool) -> None:
    # `main` opens the null device where the caller had closed its own.
    if sys.stdout is None or getattr(sys.stdout, "name", "") == os.devnull:
        raise OSError("it is closed")
    try:
        if as_json:
            print_json(order=record_row(outcome.record), findings=outcome.findings)
        else:
            show_records([outcome.record], as_json=False)
        sys.stdout.flush()
    except OSError:
        # Python flushes stdout again at the end of the process, and would change the exit code.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _not_shown(record: Record, place: str, error: Exception) -> Finding:
    name, ids = record.order.name, ", ".join([*record.reservation_ids, *record.block_ids])
    return Finding(
        code="UC7051",
        problem=f"order {name} is {record.state}{f' with {ids}' if ids else ''}, and the {place} could not be written: "
        f"{type(error).__name__}: {error}",
        remedy="Run the command again for the output; it buys nothing more",
    )


def echo_rehearsals(order: Order, session: Session, rollout: Path | None) -> None:
    """Print the last rehearsals of an order's cluster, except for an extension, whose cluster is deployed.

    Without a rollout file, the rehearsed version is not compared.
    """
    if isinstance(order, BlockOrder):
        regions = order.regions
    elif isinstance(order, OnDemandOrder):
        regions = (order.region,)
    else:
        return
    clusters = load_rollout(rollout, deployable=False).config.clusters() if rollout else []
    digests = {
        cluster.region: cluster_digest(cluster) for cluster in clusters if cluster.name == order.cluster
    }
    for sentence in describe_rehearsals(
        order.cluster,
        regions,
        ssm=lambda region: session.clients("ssm", region, config=_BRIEFLY),
        digests=digests,
    ):
        echo(sentence)


RECORDS: Final = (
    RuleRecord(
        "UC7051",
        "The outcome of an order is printed and written to the requested place.",
        remedy="The state and the IDs in the finding are right. Run the command again for the output: it buys nothing more.",
        source="Our decision: whatever fails after a purchase, the purchase is reported.",
    ),
)
