"""A synthesis imports the modules of aws_cdk that a cluster needs, and no others of ours."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.stacks.conftest import QUICKSTART
from tests.unit.stacks.two_clusters import assembled, templates

pytestmark = pytest.mark.slow

# Of the ledger, images and SageMaker. Jobs, gates and alarms take a millisecond or less to import.
NOT_OF_A_CLUSTER = {
    "aws_cdk.aws_imagebuilder",
    "ultracluster.purchasing.capacity_ledger",
    "ultracluster.images.neuron_ami",
    "ultracluster.sagemaker.sagemaker_training_queue",
    "ultracluster.images.training_image_repository",
}


def test_a_synthesis_imports_nothing_for_what_no_cluster_has() -> None:
    code = "import sys, ultracluster_stacks.synthesis.in_process; print(*sys.modules)"
    imported = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )

    assert "aws_cdk.aws_batch" in imported
    assert imported & NOT_OF_A_CLUSTER == set()


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


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The templates of two clusters in two waves."""
    return templates(two_clusters(tmp_path_factory.mktemp("apart"), second_wave=True))


def test_moving_a_cluster_to_another_wave_changes_nothing(tmp_path: Path, apart: dict[str, str]) -> None:
    together = templates(two_clusters(tmp_path, second_wave=False))
    assert len(together) == 6
    assert together == apart


def test_a_wave_can_be_synthesized_alone_and_produces_the_same_templates(
    tmp_path: Path, apart: dict[str, str]
) -> None:
    later = templates(two_clusters(tmp_path, second_wave=True), wave="later")
    assert len(later) == 3
    assert later.items() <= apart.items()


def test_an_account_pins_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(
        QUICKSTART.read_text().replace(
            "region: us-east-2\n", 'region: us-east-2\n        account: "123456789012"\n'
        )
    )
    assert {(each.account, each.region) for each in assembled(path)} == {("123456789012", "us-east-2")}


def test_another_order_and_another_region_change_no_other_cluster(
    tmp_path: Path, apart: dict[str, str]
) -> None:
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

    assert len(after) == len(apart) + 3
    assert apart.items() <= after.items()
