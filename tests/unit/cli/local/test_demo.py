"""The demo writes its purchases to a copy of the rollout, and verifies that they were deployed."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.local.demo_orders import END, RESERVATION, START, record

from ultracluster_cli.capacity.command import fragment
from ultracluster_cli.local.demo import blocks_of, require_bought, write_copy
from ultracluster_cli.local.demo_purchase import Purchase
from ultracluster_runtime.purchasing.orders import OrderState
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout


@pytest.fixture
def cluster(quickstart: Path) -> Cluster:
    (found,) = blocks_of(load_rollout(quickstart).config).values()
    return found


# The copy of the rollout


def test_purchases_replace_placeholders_and_keep_comments(quickstart: Path, tmp_path: Path) -> None:
    (loc,) = blocks_of(load_rollout(quickstart).config)
    (tmp_path / "fragment.yaml").write_text(fragment(record("demo", OrderState.PAID)))

    write_copy(quickstart, tmp_path / "copy.yaml", {loc: tmp_path / "fragment.yaml"})

    (bought,) = blocks_of(load_rollout(tmp_path / "copy.yaml").config).values()
    assert (bought.region, bought.zone_id) == ("us-east-2", "use2-az1")
    assert bought.capacity.reservation_id == RESERVATION
    assert (bought.capacity.start, bought.capacity.end) == (START, END)
    comments = [line.partition("#")[2] for line in quickstart.read_text().splitlines() if "#" in line]
    copied = (tmp_path / "copy.yaml").read_text()
    assert len(comments) > 5
    assert [comment for comment in comments if comment not in copied] == []
    assert copied.startswith("# Written by `ultracluster demo`: quickstart.yaml")


def test_each_cluster_gets_its_own_purchase_and_nothing_else_changes(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(
        "version: 1\n"
        "defaults: {instance_type: trn1.32xlarge, image_id: ami-0123456789abcdef0, region: us-east-2,\n"
        "           zone_id: use2-az3, nodes: 2, capacity: {reservation_id: cr-00000000000000000}}\n"
        "waves:\n"
        "  - {name: one, clusters: [{name: first}, {name: second, nodes: 4, capacity: {reservation_id: cr-0000000000000000f}}]}\n"
        "  - name: two\n"
        "    clusters:\n"
        "      - name: third # without a reservation\n"
        "        capacity: {market_type: on-demand, reservation_id: null}\n"
    )
    config = load_rollout(rollout).config
    fragments = {}
    for number, loc in enumerate(blocks_of(config)):
        fragments[loc] = tmp_path / f"{number}.yaml"
        fragments[loc].write_text(fragment(record("demo", OrderState.PAID, f"cr-{number:017d}")))

    write_copy(rollout, tmp_path / "copy.yaml", fragments)

    copied = load_rollout(tmp_path / "copy.yaml").config
    clusters = [cluster for wave in copied.waves for cluster in wave.clusters]
    assert [cluster.capacity.reservation_id for cluster in clusters] == [
        "cr-00000000000000000",
        "cr-00000000000000001",
        None,
    ]
    assert [cluster.zone_id for cluster in clusters] == ["use2-az1", "use2-az1", "use2-az3"]
    assert [cluster.nodes for cluster in clusters] == [2, 4, 2]
    assert copied.waves[1] == config.waves[1]


def test_a_rollout_without_a_block_is_refused(quickstart: Path, tmp_path: Path) -> None:
    text = quickstart.read_text().replace("trn2.48xlarge", "trn1.32xlarge")
    text = text.replace("market_type: capacity-block", "market_type: on-demand")
    (tmp_path / "rollout.yaml").write_text(text)
    config = load_rollout(tmp_path / "rollout.yaml").config

    with pytest.raises(FindingsError, match=r"^error: .*deploy --local"):
        blocks_of(config)


def test_an_environment_file_is_refused_before_anything_is_started(
    run: Run, quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cdk.json").write_text("{}")
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    (tmp_path / "prod.yaml").write_text("version: 1\nbase: rollout.yaml\n")

    outcome = run("demo", "prod.yaml")

    assert outcome.code == 2
    assert "UC2227" in outcome.stderr


# What was deployed


def deployed(reservation: str, market_type: str | None = "capacity-block") -> dict[str, Any]:
    """What the check reads of a summary."""
    return {"reservation": {"id": reservation, "market_type": market_type}}


def bought(reservation: str) -> Purchase:
    return Purchase(
        cluster="quickstart",
        order="demo",
        state_before=None,
        state="PAID",
        reservation_id=reservation,
        zone_id="use2-az1",
        start=START.isoformat(),
        end=END.isoformat(),
        fee="13.44",
        fragment=Path("fragment.yaml"),
    )


def test_clusters_that_target_the_purchases_pass() -> None:
    require_bought(
        [deployed("cr-2"), deployed("cr-1"), deployed("cr-3", None)], [bought("cr-1"), bought("cr-2")]
    )


@pytest.mark.parametrize(
    "clusters", [[], [deployed("cr-2")], [deployed("cr-1", None)], [deployed("cr-1"), deployed("cr-2")]]
)
def test_clusters_that_target_anything_else_fail(clusters: list[dict[str, Any]]) -> None:
    with pytest.raises(FindingsError, match=r"^error: bought cr-1, but the launch templates target "):
        require_bought(clusters, [bought("cr-1")])
