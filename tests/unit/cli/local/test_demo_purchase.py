"""The demo buys capacity for a rollout once, with `ultracluster capacity`."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.fake_clients import FakeClients
from tests.unit.cli.local.demo_orders import END, NOW, RESERVATION, START, order_for, record

from ultracluster_cli._aws.target import Target
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.local import demo_purchase
from ultracluster_cli.local.demo import blocks_of
from ultracluster_cli.local.demo_purchase import DemoBuyer, Purchase, command_environment, order_name
from ultracluster_cli.output import short_time
from ultracluster_local.instance.environment import child_environment
from ultracluster_runtime.purchasing.order_checks import check_order
from ultracluster_runtime.purchasing.orders import OrderState, Record
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout


@pytest.fixture
def cluster(quickstart: Path) -> Cluster:
    (found,) = blocks_of(load_rollout(quickstart).config).values()
    return found


def test_the_same_need_has_the_same_order_and_another_need_another_one(cluster: Cluster) -> None:
    others = [
        replace(cluster, **change)
        for change in (
            {"nodes": 8},
            {"region": "us-east-1"},
            {"instance_type": "trn1.32xlarge"},
            {"name": "b2"},
        )
    ]

    assert order_name(cluster) == order_name(replace(cluster))
    assert len({order_name(one) for one in [cluster, *others]}) == 5


def test_the_longest_name_of_a_cluster_leads_to_a_valid_name_of_an_order(cluster: Cluster) -> None:
    long = replace(cluster, name="a" * 32)

    assert check_order(order_for(order_name(long), long.name), now=NOW) == []


def test_the_commands_know_neither_credentials_nor_the_ledger_of_the_user() -> None:
    base = {
        "AWS_PROFILE": "prod",
        "AWS_ACCESS_KEY_ID": "AKIAUSER",
        "ULTRACLUSTER_LEDGER": "mine",
    }
    environment = child_environment(
        endpoint="http://localhost:1", key="LOCAL1", region="us-east-2", base=base
    )
    target = Target(name="a fake", local=True, environment=environment, client=FakeClients(lambda *_: None))

    given = command_environment(target)

    assert "AWS_PROFILE" not in given
    assert given["AWS_ACCESS_KEY_ID"] != "AKIAUSER"
    assert given["ULTRACLUSTER_LEDGER"] == demo_purchase.LEDGER_TABLE
    assert given["ULTRACLUSTER_LEDGER_REGION"] == demo_purchase.LEDGER_REGION
    assert given["AWS_ENDPOINT_URL"] == "http://localhost:1"


class Commands:
    """Stands in for the processes of `ultracluster capacity`: answers by the command's name, and counts."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.run: list[list[str]] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        arguments = command[command.index("capacity") + 1 :]
        self.run.append(arguments)
        answer = self.answers[arguments[0]]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, int):
            return subprocess.CompletedProcess(command, answer, "", "UC7027: 13.44 USD is too much.\n")
        return subprocess.CompletedProcess(command, 0, json.dumps(answer), "")


class Ec2:
    """An EC2 that holds reservations with the tags of orders."""

    def __init__(self, held: dict[str, str]) -> None:
        self._held = held

    def __call__(self, service: str, region: str) -> "Ec2":
        del service, region
        return self

    def get_paginator(self, _: str) -> "Ec2":
        return self

    def paginate(self) -> list[dict[str, Any]]:
        return [
            {
                "CapacityReservations": [
                    {"CapacityReservationId": one, "Tags": [{"Key": "uc:po", "Value": order}]}
                ]
            }
            for one, order in self._held.items()
        ]


def answer_to_buy(state: str, reservation: str = RESERVATION) -> dict[str, Any]:
    return {
        "order": {
            "state": state,
            "reservations": reservation,
            "zone_ids": "use2-az1",
            "start": START.isoformat(),
            "end": END.isoformat(),
            "fee": "13.44",
        }
    }


OFFER = {
    "offering": "cbr-1",
    "zone": "use2-az1",
    "start": START.isoformat(),
    "end": END.isoformat(),
    "usable_hours": 335.33,
    "total": "13.44",
}

Buy = Callable[..., Purchase]


@pytest.fixture
def buy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cluster: Cluster) -> Buy:
    """Buy with stand-ins for the commands, for EC2 and for what the ledger holds before."""

    def buy_with(
        commands: Commands, *, known: list[Record] | None = None, held: dict[str, str] | None = None
    ) -> Purchase:
        class Ledger:
            def __init__(self, *_: Any) -> None: ...

            def orders(self) -> list[Record]:
                return known or []

        monkeypatch.setattr(demo_purchase, "Ledger", Ledger)
        monkeypatch.setattr(demo_purchase, "run_captured", commands)
        ec2 = Ec2({RESERVATION: order_name(cluster)} if held is None else held)
        target = Target(name="a fake", local=True, environment={}, client=FakeClients(ec2))
        buyer = DemoBuyer(
            target=target,
            directory=tmp_path,
            folder=tmp_path,
            run=demo_purchase.CommandRunner(target=target, directory=tmp_path, log=tmp_path / "log"),
        )
        return buyer.buy(cluster)

    return buy_with


def fresh(*states: str) -> Commands:
    return Commands(
        find={"offerings": [OFFER]},
        approve={"order": {"token": "t" * 16}},
        buy=[answer_to_buy(state) for state in states],
    )


def option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def test_finds_approves_buys_and_buys_again(buy: Buy, cluster: Cluster) -> None:
    commands = fresh("PURCHASED", "PAID")

    purchase = buy(commands)

    assert [arguments[:2] for arguments in commands.run[1:]] == [
        [command, order_name(cluster)] for command in ("approve", "buy", "buy")
    ]
    assert commands.run[0][0] == "find"
    assert (purchase.state_before, purchase.state, purchase.reservation_id) == (None, "PAID", RESERVATION)
    assert option(commands.run[2], "--token") == "t" * 16
    assert "--write" in commands.run[2]


def test_the_cap_is_the_best_offer_and_the_months_cap_leaves_room_for_what_was_spent(
    buy: Buy,
) -> None:
    commands = fresh("PURCHASED", "PAID")

    buy(commands, known=[record("another", OrderState.PAID), record("failed", OrderState.REJECTED)])

    assert option(commands.run[1], "--max-fee") == "13.44"
    assert option(commands.run[1], "--month-cap") == "26.88"  # and 13.44 for the other one


@pytest.mark.parametrize(
    ("state", "times"),
    [(OrderState.PAID, 1), (OrderState.PURCHASED, 1), (OrderState.SENDING, 2), (OrderState.APPROVED, 2)],
)
def test_an_order_of_the_ledger_is_neither_searched_nor_approved_again(
    buy: Buy, cluster: Cluster, state: OrderState, times: int
) -> None:
    commands = Commands(buy=[answer_to_buy("PURCHASED"), answer_to_buy("PAID")])

    purchase = buy(commands, known=[record(order_name(cluster), state)])

    assert [arguments[0] for arguments in commands.run] == ["buy"] * times
    assert purchase.state_before == state.value


def test_a_chapter_shows_what_a_person_would_type_and_one_result(
    buy: Buy, cluster: Cluster, capfd: pytest.CaptureFixture[str]
) -> None:
    buy(fresh("PURCHASED", "PAID"))

    *_, bought = capfd.readouterr().err.split("\n\n")
    assert bought.splitlines() == [
        "3/7 Buy: an order is bought once, even if the command is repeated or killed.",
        f"  $ ultracluster capacity buy {order_name(cluster)}",
        f"  Bought {RESERVATION} until {short_time(END)}; again, it buys nothing.",
    ]


def test_a_failed_command_ends_the_demo_with_its_output(buy: Buy, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FindingsError, match=r"^error: ultracluster capacity buy ended with code 2; .*log"):
        buy(Commands(**fresh().answers | {"buy": 2}))

    assert "UC7027: 13.44 USD is too much." in capfd.readouterr().err


def test_an_unknown_purchase_outcome_exits_as_unknown(buy: Buy) -> None:
    with pytest.raises(typer.Exit) as ended:
        buy(Commands(**fresh().answers | {"buy": ExitCode.UNKNOWN}))

    assert ended.value.exit_code == ExitCode.UNKNOWN


def test_no_offer_is_a_finding(buy: Buy) -> None:
    with pytest.raises(FindingsError, match=r"^error: .*offers no trn2\.48xlarge in us-east-2"):
        buy(Commands(find={"offerings": []}))


def test_a_second_reservation_from_the_ledger_is_a_finding(buy: Buy) -> None:
    commands = fresh()
    commands.answers["buy"] = [answer_to_buy("PURCHASED"), answer_to_buy("PAID", "cr-2")]

    with pytest.raises(FindingsError, match=rf"^error: .* bought {RESERVATION}, then cr-2"):
        buy(commands)


@pytest.mark.parametrize("more", [[], ["cr-2"]])
def test_anything_but_one_reservation_in_ec2_is_a_finding(
    buy: Buy, cluster: Cluster, more: list[str]
) -> None:
    held = {one: order_name(cluster) for one in [RESERVATION, *more] if more}

    with pytest.raises(FindingsError, match=r"^error: the ledger has .*, but EC2 has "):
        buy(fresh("PURCHASED", "PAID"), held=held)


def test_reservations_of_other_orders_do_not_count(buy: Buy, cluster: Cluster) -> None:
    held = {"cr-2": "another", RESERVATION: order_name(cluster)}

    assert buy(fresh("PURCHASED", "PAID"), held=held).reservation_id == RESERVATION
