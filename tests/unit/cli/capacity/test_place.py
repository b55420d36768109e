"""`ultracluster capacity place`, and the steps from there to a deployable rollout, with fakes of EC2 and the ledger."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.capacity.test_resolve import ORDERED, record
from tests.unit.cli.conftest import Run
from tests.unit.runtime.purchasing.example_orders import block_order, offering
from tests.unit.stacks.config.conftest import VALID

from ultracluster_cli.ami import command as ami
from ultracluster_cli.capacity import resolve as capacity_resolve
from ultracluster_runtime.images.machine_images import MachineImage
from ultracluster_runtime.purchasing.effects import Page
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_stacks.config import load_rollout

ZONES = {"us-east-2": "use2-az1", "ap-south-2": "aps2-az1"}
FEES = {"us-east-2": 60_000, "ap-south-2": 50_000}


def read_page(_: Any, effect: Any) -> Page[Offering]:
    """Answer as EC2 with one offering in each of two Regions; Hyderabad is cheaper."""
    start = effect.start_after + timedelta(days=1)
    best = offering(
        offering_id=f"cb-{effect.region}",
        region=effect.region,
        zone_ids=(ZONES[effect.region],),
        instance_count=effect.count,
        fee=Decimal(FEES[effect.region]),
        start=start,
        end=start + timedelta(days=14),
    )
    return Page(items=(best,))


@pytest.fixture
def found_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """An AMI of its own for each Region."""

    def find_images(_: object, *, regions: list[str], **__: Any) -> dict[str, MachineImage]:
        created = datetime(2026, 10, 30, tzinfo=UTC)
        return {
            region: MachineImage(region=region, image_id=f"ami-{number:017x}", name="new", created=created)
            for number, region in enumerate(regions)
        }

    monkeypatch.setattr(ami, "find_images", find_images)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rollout.yaml"
    path.write_text(ORDERED)
    return path


@pytest.fixture
def place(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr("ultracluster_cli.capacity.place.read_page", read_page)
    monkeypatch.setattr("ultracluster_cli.capacity.place.clients_of", lambda profile: profile)
    soon = datetime.now(UTC).date()

    def place(*options: str, wave: str = "first", regions: str = "us-east-2,ap-south-2") -> Any:
        between = ["--between", soon.isoformat(), (soon + timedelta(days=40)).isoformat()]
        given = ["--wave", wave, "--regions", regions, "--days", "14", *between]
        return run("capacity", "place", str(path), *given, "--max-fee", "60000", *options)

    return place


def test_writes_the_file_only_with_write(place: Run, path: Path) -> None:
    shown = json.loads(place("--json").stdout)

    assert [(row["cluster"], row["region"], row["total"]) for row in shown["clusters"]] == [
        ("train", "ap-south-2", "50000")
    ]
    assert path.read_text() == ORDERED

    outcome = place("--write")

    assert outcome.code == 0
    assert path.read_text() == ORDERED.replace("us-east-2\n", '"ap-south-2"\n').replace(
        "use2-az1", '"aps2-az1"'
    )
    assert "UC2220" in outcome.stderr  # what is left to do
    assert "not held" in outcome.stderr


def test_data_stays_in_the_regions_that_are_allowed(place: Run) -> None:
    shown = json.loads(place("--json", regions="us-east-2").stdout)

    assert [row["region"] for row in shown["clusters"]] == ["us-east-2"]


def test_writes_nothing_unless_every_cluster_has_a_place(place: Run, path: Path) -> None:
    second = (
        ORDERED[ORDERED.index("      - name: train") :]
        .replace("name: train", "name: other")
        .replace("december", "january")
    )
    path.write_text(ORDERED + second)

    outcome = place("--write", "--most-per-region", "1", regions="us-east-2")

    assert (outcome.code, outcome.stderr.split(":")[0]) == (2, "error")
    assert path.read_text() == ORDERED + second
    assert place("--most-per-region", "1").code == 0


def test_clusters_with_a_reservation_are_not_moved(place: Run, path: Path) -> None:
    path.write_text(VALID)

    assert "has an order without a reservation" in place().stderr
    assert "has an order without a reservation" in place(wave="nowhere").stderr


def test_refuses_a_ranking_that_it_does_not_know(place: Run) -> None:
    assert "error: --prefer: got 'luck'" in place("--prefer", "luck").stderr


@pytest.mark.usefixtures("found_images")
@pytest.mark.parametrize("capacity_first", [True, False])
def test_the_way_from_an_order_to_a_rollout_that_can_be_deployed(
    place: Run, run: Run, path: Path, monkeypatch: pytest.MonkeyPatch, *, capacity_first: bool
) -> None:
    two = (
        ORDERED
        + "  - name: second\n    clusters:\n"
        + VALID[VALID.index("      - name: train") :].replace("name: train", "name: other")
    )
    path.write_text(two)  # its AMI comes from the defaults, which cannot be right in two Regions
    assert place("--write").code == 0

    bought = record(block_order(count=4), region="ap-south-2", zone_ids=("aps2-az1",))
    ledger = SimpleNamespace(orders=lambda: [bought])
    monkeypatch.setattr(capacity_resolve, "open_session", lambda _: SimpleNamespace(ledger=ledger))
    steps = [["capacity", "resolve", str(path)], ["ami", "resolve", str(path), "--parameter", "/p"]]
    for step in steps if capacity_first else reversed(steps):
        assert run(*step, "--write").code == 0

    first, second = (wave.clusters[0] for wave in load_rollout(path).config.waves)
    assert (first.region, first.zone_id, first.capacity.reservation_id) == (
        "ap-south-2",
        "aps2-az1",
        bought.reservation_ids[0],
    )
    assert first.image_id != second.image_id
