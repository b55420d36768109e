"""`ultracluster capacity` from find to verify, on the local AWS."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.runtime.purchasing.ledger_table import TABLE, create_table

from ultracluster_cli.main import main
from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

REGION = "us-east-2"


@pytest.fixture
def market(account: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    create_table(account.client("dynamodb", REGION))
    monkeypatch.setenv("ULTRACLUSTER_LEDGER", TABLE)
    monkeypatch.setenv("ULTRACLUSTER_LEDGER_REGION", REGION)
    return account


@pytest.fixture
def run(market: LocalAws, capsys: pytest.CaptureFixture[str]) -> Any:
    del market

    def run(*arguments: str, exits: int = 0) -> dict[str, Any]:
        code = main(["capacity", *arguments, "--json"])
        out, err = capsys.readouterr()
        assert code == exits, (out, err)
        answer: dict[str, Any] = json.loads(out) if out.strip() else {}
        answer["stderr"] = err
        return answer

    return run


def days(number: int) -> str:
    return (datetime.now(UTC) + timedelta(days=number)).date().isoformat()


WINDOW = ("--between", days(0), days(20))
WHAT = ("--instance-type", "trn2.48xlarge", "--nodes", "4", "--days", "2", "--regions", REGION)
MONEY = ("--max-fee", "7000", "--month-cap", "14000", "--approver", "a person", "--cluster", "ohio")


def approve(run: Any, name: str, *more: str) -> str:
    token: str = run("approve", name, *WHAT, *WINDOW, *MONEY, "--below-list", *more)["order"]["token"]
    return token


def buy(run: Any, name: str) -> dict[str, Any]:
    """Approve an order and buy it; return it."""
    order: dict[str, Any] = run("buy", name, "--token", approve(run, name))["order"]
    return order


def held(market: LocalAws, *ids: str) -> list[dict[str, Any]]:
    """The reservations with these IDs, or all."""
    some = {"CapacityReservationIds": list(ids)} if ids else {}
    found = market.client("ec2", REGION).describe_capacity_reservations(**some)
    return list(found["CapacityReservations"])


def test_repeated_buys_buy_once(run: Any, market: LocalAws, tmp_path: Path) -> None:
    token = approve(run, "december")
    fragment = tmp_path / "capacity.yaml"
    bought = run("buy", "december", "--token", token, "--write", str(fragment), "--parameter")
    again = run("buy", "december", "--token", token)
    (mine,) = [one for one in held(market) if {"Key": "uc:po", "Value": "december"} in one["Tags"]]
    reservation = mine["CapacityReservationId"]
    assert bought["order"]["reservations"] == again["order"]["reservations"] == reservation
    written = yaml.safe_load(fragment.read_text())
    assert written["zone_id"] == mine["AvailabilityZoneId"]
    assert written["capacity"]["reservation_id"] == reservation
    parameter = market.client("ssm", REGION).get_parameter(Name="/ultracluster/capacity/ohio/december")
    assert json.loads(parameter["Parameter"]["Value"])["reservation_ids"] == [reservation]
    states = [event["state"] for event in run("history", "december")["events"]]
    assert states[:3] == ["APPROVED", "SENDING", "PURCHASED"]


def test_a_waiting_purchase_needs_the_token_and_buys_what_is_on_offer(run: Any) -> None:
    approve(run, "december")
    assert "UC7056" in run("buy", "december", "--wait", exits=2)["stderr"]
    assert "UC7056" in run("buy", "december", "--wait", "--token", "0" * 16, exits=2)["stderr"]

    token = run("status", "december")["orders"][0]["token"]
    bought = run("buy", "december", "--wait", "--token", token)
    assert bought["order"]["state"] == "PURCHASED"
    assert bought["order"]["instances"] >= 1


def test_ctrl_c_at_the_question_buys_nothing_and_says_how_to_go_on(
    run: Any, market: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    approve(run, "december")
    monkeypatch.setattr("select.select", press)
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)

    told = run("buy", "december", exits=130)["stderr"]

    assert "Interrupted. `ultracluster capacity status december`" in " ".join(told.split())
    monkeypatch.undo()
    assert not held(market)


def test_creates_and_cancels_an_on_demand_reservation(run: Any, market: LocalAws) -> None:
    (zone, *_) = market.client("ec2", REGION).describe_availability_zones()["AvailabilityZones"]
    terms = f"--instance-type trn1.32xlarge --nodes 2 --region {REGION} --zone-id {zone['ZoneId']}"
    price = ("--end", days(2), "--hourly-price", "0.01", *MONEY)
    reserved = run("reserve", "spare", *terms.split(), *price)
    bought = run("buy", "spare", "--token", reserved["order"]["token"])
    assert bought["order"]["reservations"].startswith("cr-")
    assert run("cancel", "spare")["order"]["state"] == "CANCELLED"
    (reservation,) = held(market, bought["order"]["reservations"])
    assert reservation["State"] == "cancelled"


def test_extends_a_block_once(run: Any, market: LocalAws) -> None:
    block = buy(run, "december")["reservations"]
    market.clock.advance(timedelta(hours=13))
    assert run("reconcile", "december")["order"]["state"] == "PAID"
    (reservation,) = held(market, block)
    terms = f"--reservation-id {block} --region {REGION} --days 1 --cluster ohio".split()
    end = ("--expected-end", reservation["EndDate"].isoformat())
    money = ("--max-fee", "7000", "--month-cap", "14000", "--approver", "a person")
    token = run("extend", "longer", *terms, *end, *money)["order"]["token"]
    run("buy", "longer", "--token", token)
    again = ("extend", "longer-still", *terms, *end, *money)
    assert "UC7053" in run(*again, exits=2)["stderr"]
    token = run(*again, "--besides", "longer")["order"]["token"]
    assert "UC7053" in run("buy", "longer-still", "--token", token, exits=2)["stderr"]
    besides = ("buy", "longer-still", "--token", token, "--besides", "longer")
    refused = run(*besides, exits=2)
    assert "UC7029" in refused["stderr"] or "UC7028" in refused["stderr"]
    market.clock.advance(timedelta(hours=13))
    assert run("reconcile", "longer")["order"]["state"] == "PAID"
    refused = run(*besides, exits=2)
    assert "UC7028" in refused["stderr"]


def launch(market: LocalAws, **where: Any) -> None:
    ec2 = market.client("ec2", REGION)
    one_name = [{"Name": "name", "Values": ["al2023-ami-2023*"]}]
    image = ec2.describe_images(Filters=one_name)["Images"][0]["ImageId"]
    ec2.run_instances(ImageId=image, InstanceType="trn2.48xlarge", MinCount=2, MaxCount=2, **where)


def test_proves_that_nodes_run_in_the_block_until_it_ends(run: Any, market: LocalAws) -> None:
    block = buy(run, "december")["reservations"]
    (reservation,) = held(market, block)
    market.clock.set(reservation["StartDate"])
    inside = {
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": block}},
    }
    launch(market, **inside)
    proof = run("verify", block, "--region", REGION)
    assert (proof["reserved"], proof["inside"], proof["outside"]) == (4, 2, 0)

    launch(market)  # on demand, beside what was paid
    proof = run("verify", block, "--region", REGION, exits=2)
    assert (proof["inside"], proof["outside"]) == (2, 2)
    assert "UC7045" in proof["stderr"]

    market.clock.set(reservation["EndDate"] - timedelta(minutes=30))  # EC2 takes the nodes of the block
    proof = run("verify", block, "--region", REGION, exits=2)
    assert (proof["inside"], proof["outside"]) == (0, 2)
