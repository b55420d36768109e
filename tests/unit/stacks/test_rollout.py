import json
import os
import tempfile
from pathlib import Path

import pytest
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_cli.plan.stacks import AssembledStack, assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.synth


@pytest.fixture(autouse=True)
def _without_builtin_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDK_VALIDATION", "false")
    assert os.environ["CDK_VALIDATION"] == "false"


def two_clusters(tmp_path: Path, *, second_wave: bool) -> Path:
    """The quick start and a cluster beside it, in the same wave or in one of its own."""
    text = QUICKSTART.read_text()
    second = (
        "      - name: second\n        region: us-east-2\n        zone_id: use2-az1\n        instance_type: trn2.48xlarge\n"
        "        nodes: 2\n        image_id: ami-0123456789abcdef1\n        capacity:\n"
        "          reservation_id: cr-0123456789abcdef1\n"
    )
    wave = "  - name: later\n    clusters:\n" if second_wave else ""
    path = tmp_path / f"rollout-{second_wave}.yaml"
    path.write_text(text.rstrip() + "\n" + wave + second)
    return path


def assembled(path: Path, *, wave: str | None = None) -> list[AssembledStack]:
    with tempfile.TemporaryDirectory() as directory:
        synthesize(load_rollout(path).config.clusters(wave), Path(directory))
        return assembled_stacks(Path(directory))


def templates(path: Path, *, wave: str | None = None) -> dict[str, str]:
    return {
        each.stack.name: json.dumps(each.stack.template, sort_keys=True)
        for each in assembled(path, wave=wave)
    }


def test_moving_a_cluster_to_another_wave_changes_nothing(tmp_path: Path) -> None:
    together = templates(two_clusters(tmp_path, second_wave=False))
    apart = templates(two_clusters(tmp_path, second_wave=True))
    assert len(together) == 6
    assert together == apart


def test_a_wave_can_be_synthesized_alone_and_gives_the_same_templates(tmp_path: Path) -> None:
    path = two_clusters(tmp_path, second_wave=True)
    everything = templates(path)
    later = templates(path, wave="later")
    assert len(later) == 3
    assert later.items() <= everything.items()


def test_on_demand_capacity_and_reservations_are_deployed_as_asked(tmp_path: Path) -> None:
    text = QUICKSTART.read_text()
    on_demand = tmp_path / "on-demand.yaml"
    on_demand.write_text(
        text.replace("market_type: capacity-block", "market_type: on-demand")
        .replace("reservation_id: cr-0123456789abcdef0", "")
        .replace("          # REPLACE", "          # ")
    )
    cluster = templates(on_demand)["quickstart-us-east-2-Cluster"]
    assert "AWS::EC2::PlacementGroup" in cluster
    assert "CapacityReservationTarget" not in cluster
    reserved = tmp_path / "reserved.yaml"
    reserved.write_text(text.replace("market_type: capacity-block", "market_type: on-demand"))
    cluster = templates(reserved)["quickstart-us-east-2-Cluster"]
    assert "CapacityReservationTarget" in cluster
    assert "InstanceMarketOptions" not in cluster


def test_an_account_pins_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(
        QUICKSTART.read_text().replace(
            "region: us-east-2\n", 'region: us-east-2\n        account: "123456789012"\n'
        )
    )
    assert {(each.account, each.stack.region) for each in assembled(path)} == {("123456789012", "us-east-2")}


def test_another_order_and_another_region_change_no_other_cluster(tmp_path: Path) -> None:
    before = templates(two_clusters(tmp_path, second_wave=True))
    head, first, second = (
        two_clusters(tmp_path, second_wave=True).read_text().rstrip().split("    clusters:\n")
    )
    first, later = first.split("  - name: later\n")
    new = (
        second.replace("us-east-2", "ap-southeast-4").replace("use2-az1", "apse4-az1").replace("def1", "def2")
    )
    reordered = tmp_path / "reordered.yaml"
    wave = head.rpartition("  - name: ")[2]
    head = head.removesuffix(f"  - name: {wave}")
    reordered.write_text(
        f"{head}  - name: later\n{later}    clusters:\n{new}\n{second}\n  - name: {wave}    clusters:\n{first}"
    )

    after = templates(reordered)

    assert len(after) == len(before) + 3
    assert before.items() <= after.items()
