"""Buy Capacity Blocks in the demo with `ultracluster capacity` commands."""

import hashlib
import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_UP, Decimal
from pathlib import Path
from typing import Any, Final

import typer

from ultracluster_cli._aws.target import Target
from ultracluster_cli._cdk.child_process import run_captured
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.options import LEDGER_REGION_VARIABLE, LEDGER_VARIABLE
from ultracluster_cli.output import print_table, say
from ultracluster_cli.progress import measure_and_report
from ultracluster_runtime.purchasing.ledger import PARTITION_KEY, SORT_KEY, Ledger
from ultracluster_runtime.purchasing.orders import ORDER_TAG, OrderState, Record
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import get_instance_type

LEDGER_TABLE: Final = "ultracluster-demo-ledger"
LEDGER_REGION: Final = "us-east-2"

_DAYS: Final = 14
"""Duration of the block, and latest start from today."""
_ABOVE_BEST: Final = Decimal("1.01")
_RESET: Final = "Reset a running local AWS with `ultracluster local reset`, and try again"
_BOUGHT: Final = frozenset({OrderState.PURCHASED, OrderState.PAID})


@dataclass(frozen=True, kw_only=True, slots=True)
class Purchase:
    """A purchase for a cluster, with fake money, and the file with its capacity settings for a rollout."""

    cluster: str
    order: str
    state_before: str | None
    state: str
    reservation_id: str
    zone_id: str
    start: str
    end: str
    fake_fee: str
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


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRunner:
    """Run commands of `ultracluster` as users do, and show their command lines."""

    target: Target
    directory: Path
    log: Path

    def __call__(self, *arguments: str, quiet: bool = False) -> dict[str, Any]:
        """Run a command and return its JSON; a failure is an error, an unknown outcome of a purchase `ExitCode.UNKNOWN`."""
        command_line = shlex.join(["ultracluster", *arguments])
        if not quiet:
            say(f"$ {command_line}  # local AWS, fake money")
        completed = run_captured(
            [sys.executable, "-P", "-m", "ultracluster_cli", *arguments],
            directory=self.directory,
            environment=command_environment(self.target),
        )
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {command_line}\n{completed.stderr}{completed.stdout}")
        if completed.returncode == 0:
            document: dict[str, Any] = json.loads(completed.stdout)
            return document
        for line in completed.stderr.splitlines():
            say(f"  | (local AWS, fake money) {line}")
        if completed.returncode == ExitCode.UNKNOWN:
            say("Running the demo again is safe: it looks up the purchase and sends no second request.")
            raise typer.Exit(ExitCode.UNKNOWN)
        command = " ".join(arguments[:2])
        raise failed_command(f"ultracluster {command} ended with code {completed.returncode}; see {self.log}")


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoBuyer:
    """Buy Capacity Blocks on a local AWS with the commands of `ultracluster capacity`."""

    target: Target
    directory: Path
    folder: Path
    run: CommandRunner
    steps: dict[str, float]
    shows_offers: bool

    def buy(self, cluster: Cluster) -> Purchase:
        """Find, approve and buy the block of a cluster, unless the ledger already contains its order."""
        order = order_name(cluster)
        ledger = Ledger(self.target.client("dynamodb", LEDGER_REGION), LEDGER_TABLE)
        records = {record.order.name: record for record in ledger.orders()}
        previous = records.get(order)
        if previous is None:
            token = self._approve(order, cluster, self._find(cluster), records.values())
        else:
            say(f"Order {order} is already in the ledger ({previous.state}); skipping find and approve")
            token = previous.token
        fragment = self.folder / f"{order}.fragment.yaml"
        row = self._buy(order, token, fragment)
        if previous is None or previous.state not in _BOUGHT:
            row = self._buy_again(order, token, row)
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
            fake_fee=f"{row['fee']} USD",
            fragment=fragment,
        )

    def _find(self, cluster: Cluster) -> dict[str, Any]:
        with measure_and_report(self.steps, "capacity find") as messages:
            offers = self.run("capacity", "find", *_search_options(cluster), "--json")["offerings"]
            if not offers:
                raise failed_command(f"the local AWS offers no {cluster.instance_type} in {cluster.region}")
            best: dict[str, Any] = offers[0]
            messages.append(f"{len(offers)} offerings; the best costs {best['total']} USD of fake money")
        if self.shows_offers:
            print_table(
                [offer | {"fake_usd": offer["total"]} for offer in offers],
                columns=["offering", "zone", "start", "end", "usable_hours", "fake_usd"],
                title="Offerings of the local AWS by price (fake money)",
            )
        return best

    def _approve(
        self, order: str, cluster: Cluster, best: Mapping[str, Any], records: Iterable[Record]
    ) -> str:
        cap = (Decimal(best["total"]) * _ABOVE_BEST).quantize(Decimal("0.01"), rounding=ROUND_UP)
        spent = sum((record.held_fee for record in records), Decimal(0))
        with measure_and_report(self.steps, "capacity approve") as messages:
            document = self.run(
                *("capacity", "approve", order, "--cluster", cluster.name, *_search_options(cluster)),
                *("--max-fee", str(cap), "--month-cap", str(spent + cap), "--approver", "demo", "--json"),
            )
            messages.append(f"Approved order {order} for at most {cap} USD of fake money")
        token: str = document["order"]["token"]
        return token

    def _buy(self, order: str, token: str, fragment: Path) -> dict[str, Any]:
        with measure_and_report(self.steps, "capacity buy") as messages:
            output = str(fragment.relative_to(self.directory))
            order_row: dict[str, Any] = self.run(
                "capacity", "buy", order, "--token", token, "--write", output, "--json"
            )["order"]
            messages += [
                f"Order {order} is {order_row['state']}: {order_row['reservations']} in {order_row['zone_ids']}",
                f"{order_row['fee']} USD of fake money",
            ]
        return order_row

    def _buy_again(self, order: str, token: str, first_row: Mapping[str, Any]) -> dict[str, Any]:
        with measure_and_report(self.steps, "capacity buy, again") as messages:
            second_row: dict[str, Any] = self.run("capacity", "buy", order, "--token", token, "--json")[
                "order"
            ]
            if second_row["reservations"] != first_row["reservations"]:
                raise unexpected_purchase(
                    f"order {order} bought {first_row['reservations']}, then {second_row['reservations']}"
                )
            messages.append(f"A second buy bought nothing: {second_row['state']}, same reservation")
        return second_row

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


def failed_command(problem: str) -> FindingsError:
    """Return the error because a command of the demo failed, or did not have its effect."""
    return FindingsError.message(problem, remedy=_RESET)


def unexpected_purchase(problem: str) -> FindingsError:
    """Return the error because the local AWS does not have exactly the purchased reservations."""
    return FindingsError.message(problem, remedy=_RESET)
