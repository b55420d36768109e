"""Buy Capacity Blocks in the first chapters of the demo, with `ultracluster capacity` commands."""

import hashlib
import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import typer

from ultracluster_cli._aws.target import Target
from ultracluster_cli._cdk.child_process import run_captured
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.options import LEDGER_REGION_VARIABLE, LEDGER_VARIABLE
from ultracluster_cli.output import echo, echo_command, short_time
from ultracluster_cli.progress import doing, measure
from ultracluster_runtime.purchasing.ledger import PARTITION_KEY, SORT_KEY, Ledger
from ultracluster_runtime.purchasing.orders import ORDER_TAG, OrderState, Record
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import get_instance_type

LEDGER_TABLE: Final = "ultracluster-demo-ledger"
LEDGER_REGION: Final = "us-east-2"

_DAYS: Final = 14
"""Duration of the block, and latest start from today."""
_CHAPTERS: Final = 7
_RESET: Final = "Reset a running local AWS with `ultracluster local reset`, and try again"
_BOUGHT: Final = frozenset({OrderState.PURCHASED, OrderState.PAID})


@dataclass(frozen=True, kw_only=True, slots=True)
class Purchase:
    """A purchase for a cluster, and the file with its capacity settings for a rollout."""

    cluster: str
    order: str
    state_before: str | None
    state: str
    reservation_id: str
    zone_id: str
    start: str
    end: str
    fee: str
    fragment: Path


def make_ledger(client: Any) -> None:
    """Create the ledger's table unless it exists."""
    keys = {PARTITION_KEY: "HASH", SORT_KEY: "RANGE"}
    try:
        client.create_table(
            TableName=LEDGER_TABLE,
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
            BillingMode="PAY_PER_REQUEST",
            DeletionProtectionEnabled=True,
        )
    except client.exceptions.ResourceInUseException:
        return


def order_name(cluster: Cluster) -> str:
    """Return the order name of a cluster, which depends only on its requirements."""
    need = f"{cluster.region} {cluster.instance_type} {cluster.nodes}"
    return f"demo-{cluster.name}-{hashlib.sha256(need.encode()).hexdigest()[:8]}"


def chapter(number: int, title: str, why: str) -> None:
    """Begin a chapter: its number, what is done, and why."""
    echo(f"\n{number}/{_CHAPTERS} {title}: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRunner:
    """Run commands of `ultracluster` as users do, and show their command lines."""

    target: Target
    directory: Path
    log: Path

    def __call__(self, *typed: str, more: Sequence[str] = (), shown: bool = True) -> dict[str, Any]:
        """Run a command and return its JSON; a failure is an error, an unknown outcome of a purchase `ExitCode.UNKNOWN`.

        Args:
            typed: What a person would type.
            more: Options in place of what a person would answer or see.
            shown: Whether to show what a person would type.
        """
        if shown:
            show_command(*typed)
        split = typed.index("--") if "--" in typed else len(typed)
        arguments = [*typed[:split], *more, "--json", *typed[split:]]
        completed = run_captured(
            [sys.executable, "-P", "-m", "ultracluster_cli", *arguments],
            directory=self.directory,
            environment=command_environment(self.target),
        )
        with self.log.open("a", encoding="utf-8") as log:
            command_line = shlex.join(["ultracluster", *arguments])
            log.write(f"$ {command_line}\n{completed.stderr}{completed.stdout}")
        if completed.returncode == 0:
            document: dict[str, Any] = json.loads(completed.stdout)
            return document
        for line in completed.stderr.splitlines():
            echo(f"  | {line}")
        if completed.returncode == ExitCode.UNKNOWN:
            echo("Running the demo again is safe: it looks up the purchase and sends no second request.")
            raise typer.Exit(ExitCode.UNKNOWN)
        command = " ".join(arguments[:2])
        raise failed_command(f"ultracluster {command} ended with code {completed.returncode}; see {self.log}")


def show_command(*words: str) -> None:
    """Show a command as a person would type it."""
    echo_command(["$", "ultracluster", *words])


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoBuyer:
    """Buy Capacity Blocks on a local AWS with the commands of `ultracluster capacity`."""

    target: Target
    directory: Path
    folder: Path
    run: CommandRunner

    def buy(self, cluster: Cluster) -> Purchase:
        """Find, approve and buy the block of a cluster, unless the ledger already contains its order."""
        order = order_name(cluster)
        ledger = Ledger(self.target.client("dynamodb", LEDGER_REGION), LEDGER_TABLE)
        records = {record.order.name: record for record in ledger.orders()}
        previous = records.get(order)
        if previous is None:
            token = self._approve(order, cluster, self._find(cluster), records.values())
        else:
            echo(f"Order {order} is already in the ledger ({previous.state}); skipping find and approve")
            token = previous.token
        fragment = self.folder / f"{order}.fragment.yaml"
        row = self._buy(order, token, fragment, twice=previous is None or previous.state not in _BOUGHT)
        self._require_one(order, cluster.region, row["reservations"])
        return Purchase(
            cluster=cluster.name,
            order=order,
            state_before=previous.state.value if previous else None,
            state=row["state"],
            reservation_id=row["reservations"],
            zone_id=row["zone_ids"],
            start=row["start"],
            end=row["end"],
            fee=row["fee"],
            fragment=fragment,
        )

    def _find(self, cluster: Cluster) -> dict[str, Any]:
        chapter(1, "Find", "Trainium2 is sold in blocks of days, so look for what is on offer.")
        with measure("capacity find"), doing("Searching"):
            offers = self.run("capacity", "find", *_search_options(cluster))["offerings"]
        if not offers:
            raise failed_command(f"the local AWS offers no {cluster.instance_type} in {cluster.region}")
        best: dict[str, Any] = offers[0]
        start = short_time(datetime.fromisoformat(best["start"]))
        echo(
            f"  {len(offers)} offerings from {usd(best['total'])}; the first starts {start} in {best['zone']}."
        )
        return best

    def _approve(
        self, order: str, cluster: Cluster, best: Mapping[str, Any], records: Iterable[Record]
    ) -> str:
        chapter(2, "Approve", "a block cannot be returned, so a person limits its price.")
        fee = best["total"]
        spent = sum((record.held_fee for record in records), Decimal(0))
        with measure("capacity approve"), doing("Approving"):
            document = self.run(
                *("capacity", "approve", order, "--cluster", cluster.name, *_search_options(cluster)),
                *("--max-fee", fee, "--month-cap", str(spent + Decimal(fee)), "--approver", "demo"),
            )
        echo(f"  The ledger has an order of at most {usd(fee)}; nothing is bought yet.")
        token: str = document["order"]["token"]
        return token

    def _buy(self, order: str, token: str, fragment: Path, *, twice: bool) -> dict[str, Any]:
        chapter(3, "Buy", "an order is bought once, even if the command is repeated or killed.")
        # A person is asked for the name of the order and the total.
        answers = ["--token", token]
        with measure("capacity buy"), doing("Buying"):
            output = ["--write", str(fragment.relative_to(self.directory))]
            row: dict[str, Any] = self.run("capacity", "buy", order, more=[*answers, *output])["order"]
        bought, again = row["reservations"], ""
        if twice:
            with measure("capacity buy, again"), doing("Buying again"):
                row = self.run("capacity", "buy", order, more=answers, shown=False)["order"]
            if row["reservations"] != bought:
                raise unexpected_purchase(f"order {order} bought {bought}, then {row['reservations']}")
            again = "; again, it buys nothing"
        end = short_time(datetime.fromisoformat(row["end"]))
        echo(f"  Bought {bought} until {end}{again}.")
        return row

    def _require_one(self, order: str, region: str, reservation_id: str) -> None:
        """Check in EC2 that exactly one reservation exists for the order."""
        pages = self.target.client("ec2", region).get_paginator("describe_capacity_reservations").paginate()
        reservation_ids = [
            reservation["CapacityReservationId"]
            for page in pages
            for reservation in page["CapacityReservations"]
            if {"Key": ORDER_TAG, "Value": order} in reservation.get("Tags", [])
        ]
        if reservation_ids != [reservation_id]:
            raise unexpected_purchase(
                f"the ledger has {reservation_id} for order {order}, but EC2 has {reservation_ids}"
            )


def command_environment(target: Target) -> dict[str, str]:
    """Return the environment of commands that use the local AWS and its ledger."""
    return {**target.environment, LEDGER_VARIABLE: LEDGER_TABLE, LEDGER_REGION_VARIABLE: LEDGER_REGION}


def _search_options(cluster: Cluster) -> list[str]:
    """Return the options of `find` and `approve` for a cluster."""
    instance_type = get_instance_type(cluster.instance_type)
    size = (
        ["--ultraservers", "1", "--ultraserver-type", instance_type.ultraserver_type]
        if instance_type.ultraserver_type
        else ["--instance-type", cluster.instance_type, "--nodes", str(cluster.nodes)]
    )
    today = datetime.now(UTC).date()
    window = [today.isoformat(), (today + timedelta(days=_DAYS)).isoformat()]
    return [*size, "--days", str(_DAYS), "--between", *window, "--regions", cluster.region]


def usd(amount: str) -> str:
    """Return an amount as people write it."""
    return f"{Decimal(amount):,} USD"


def failed_command(problem: str) -> FindingsError:
    """Return the error because a command of the demo failed, or did not have its effect."""
    return FindingsError.message(problem, remedy=_RESET)


def unexpected_purchase(problem: str) -> FindingsError:
    """Return the error because the local AWS does not have exactly the purchased reservations."""
    return FindingsError.message(problem, remedy=_RESET)
