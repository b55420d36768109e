"""`ultracluster capacity resolve` with a ledger in memory."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.runtime.purchasing.example_orders import block_order, extension_order, on_demand_order
from tests.unit.runtime.purchasing.simulation import START
from tests.unit.stacks.config.conftest import VALID

from ultracluster_cli.capacity import resolve as capacity_resolve
from ultracluster_runtime.purchasing.orders import Order, OrderState, Record
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout

RESERVATION = "cr-0aaaaaaaaaaaaaaaa"
_OWN = '          reservation_id: cr-0123456789abcdef0\n          start: "2026-12-01T12:00:00Z"\n          end: "2026-12-04T11:30:00Z"\n'
ORDERED = VALID.replace(_OWN, "          order: december # for the paper\n").replace("use2-az3", "use2-az1")


def record(order: Order, **changes: Any) -> Record:
    terms: dict[str, Any] = {
        "state": OrderState.PAID,
        "region": "us-east-2",
        "zone_ids": ("use2-az3",),
        "reservation_ids": (RESERVATION,),
        "start": START,
        "end": (START + timedelta(days=14)).replace(hour=11, minute=30, second=0, microsecond=0),
    }
    return Record(order=order, token=order.token, changed_at=START, **{**terms, **changes})


BOUGHT = record(block_order())


@pytest.fixture
def resolve(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def resolve(*options: str, records: list[Record], text: str = ORDERED) -> Any:
        ledger = SimpleNamespace(orders=lambda: records)
        monkeypatch.setattr(capacity_resolve, "open_session", lambda _: SimpleNamespace(ledger=ledger))
        path = tmp_path / "rollout.yaml"
        path.write_text(text)
        return run("capacity", "resolve", str(path), *options)

    return resolve


def test_an_order_without_its_reservation_is_not_deployed(tmp_path: Path) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(ORDERED)

    with pytest.raises(FindingsError) as refused:
        load_rollout(path)

    (finding,) = refused.value.findings
    assert finding.code == "UC2220"
    assert "capacity resolve" in str(finding)
    assert finding.location.endswith(f":{ORDERED[: ORDERED.index('order:')].count(chr(10)) + 1}")


def test_writes_the_file_only_with_write(resolve: Run, tmp_path: Path) -> None:
    shown = resolve(records=[BOUGHT])

    assert shown.code == 0
    assert RESERVATION in shown.stdout
    assert (tmp_path / "rollout.yaml").read_text() == ORDERED

    assert resolve("--write", records=[BOUGHT]).code == 0

    text = (tmp_path / "rollout.yaml").read_text()
    assert "order: december # for the paper" in text
    (cluster,) = load_rollout(tmp_path / "rollout.yaml").config.waves[0].clusters
    assert (cluster.zone_id, cluster.capacity.reservation_id) == ("use2-az3", RESERVATION)
    assert (cluster.capacity.start, cluster.capacity.end) == (BOUGHT.start, BOUGHT.end)


def test_writing_twice_changes_nothing(resolve: Run, tmp_path: Path) -> None:
    resolve("--write", records=[BOUGHT])
    once = (tmp_path / "rollout.yaml").read_text()

    outcome = resolve("--write", "--json", records=[BOUGHT], text=once)

    assert (tmp_path / "rollout.yaml").read_text() == once
    assert json.loads(outcome.stdout)["capacity"][0]["order"] == "december"


def test_the_end_follows_an_extension_that_is_paid(resolve: Run, tmp_path: Path) -> None:
    assert BOUGHT.end is not None
    longer = record(
        extension_order(reservation_id=RESERVATION), end=BOUGHT.end + timedelta(days=1), reservation_ids=()
    )

    for state, days in ((OrderState.PURCHASED, 0), (OrderState.PAID, 1)):
        assert resolve("--write", records=[BOUGHT, replace(longer, state=state)]).code == 0
        (cluster,) = load_rollout(tmp_path / "rollout.yaml").config.waves[0].clusters
        assert cluster.capacity.end == BOUGHT.end + timedelta(days=days)


def test_an_on_demand_reservation_is_resolved_too(resolve: Run) -> None:
    text = ORDERED.replace("december", "reserve").replace("capacity-block", "on-demand")
    reserved = record(on_demand_order(instance_type="trn2.48xlarge"), end=None)

    assert resolve("--write", records=[reserved], text=text).code == 0


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([], "UC7020"),
        ([replace(BOUGHT, token="0" * 16)], "UC7025"),
        (
            [replace(BOUGHT, state=OrderState.APPROVED, reservation_ids=())],
            "order december is APPROVED.",
        ),
        ([replace(BOUGHT, state=OrderState.FAILED)], "order december is FAILED."),
        (
            [replace(BOUGHT, reservation_ids=(RESERVATION, "cr-0bbbbbbbbbbbbbbbb"))],
            "order december has 2 reservations",
        ),
        ([replace(BOUGHT, region="ap-south-2")], "the Region is"),
        (
            [record(block_order(instance_type="trn1.32xlarge"))],
            "the instance type is",
        ),
        (
            [record(block_order(count=2))],
            "4 nodes, but order december is for 2 instances",
        ),
        (
            [record(on_demand_order(name="december", instance_type="trn2.48xlarge"))],
            "the market_type is",
        ),
        ([record(extension_order(name="december"))], "december is an extension"),
    ],
)
def test_rejects_unbought_and_mismatched_orders(
    resolve: Run, tmp_path: Path, records: list[Record], said: str
) -> None:
    outcome = resolve("--write", records=records)

    assert (outcome.code, outcome.stderr.count("\n")) == (2, 1)
    assert said in outcome.stderr
    assert (tmp_path / "rollout.yaml").read_text() == ORDERED


def test_a_resolved_cluster_keeps_its_zone(resolve: Run, tmp_path: Path) -> None:
    resolve("--write", records=[BOUGHT])
    text = (tmp_path / "rollout.yaml").read_text().replace("use2-az3", "use2-az2")

    assert "the zone is use2-az2, but" in resolve(records=[BOUGHT], text=text).stderr


def test_shows_other_mistakes_of_the_file_first(resolve: Run) -> None:
    outcome = resolve(records=[BOUGHT], text=ORDERED.replace("nodes: 4", "nodes: 0"))

    assert "UC4101" in outcome.stderr
    assert "UC2220" not in outcome.stderr


@pytest.mark.parametrize("name", ["D", "december_1", "a" * 49])
def test_an_order_has_a_name_that_the_ledger_takes(resolve: Run, name: str) -> None:
    assert "UC2223" in resolve(records=[], text=ORDERED.replace("december", name)).stderr


def test_spot_capacity_has_no_order(resolve: Run) -> None:
    assert "UC4126" in resolve(records=[], text=ORDERED.replace("capacity-block", "spot")).stderr
