"""A synthesis imports the modules of aws_cdk that a cluster needs, and no others of ours."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment
from tests.unit.stacks.conftest import ROOT

pytestmark = pytest.mark.synth

# Of the ledger, the roles that buy, images, SageMaker, and what only some clusters have.
NOT_OF_A_CLUSTER = {
    "aws_cdk.aws_dynamodb",
    "aws_cdk.aws_imagebuilder",
    "ultracluster.operations.alarm_settings",
    "ultracluster.purchasing.capacity_ledger",
    "ultracluster.jobs.fabric_gate",
    "ultracluster.images.neuron_ami",
    "ultracluster.jobs.precompile_job",
    "ultracluster.sagemaker.sagemaker_training_queue",
    "ultracluster.jobs.single_node_job",
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


def test_a_plugin_of_pydantic_that_is_installed_sees_no_rollout(tmp_path: Path) -> None:
    metadata = tmp_path / "spy-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.4\nName: spy\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pydantic]\nspy = spy:plugin\n")
    (tmp_path / "spy.py").write_text("raise SystemExit('the plugin is here')\n")
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text("{version: 1, waves: none}\n")
    environment = bare_environment(
        CDK_CONTEXT_JSON=json.dumps({"rollout": str(rollout)}), PYTHONPATH=str(tmp_path)
    )

    def outcome(**variables: str) -> tuple[int, str]:
        command = [sys.executable, str(ROOT / "app.py")]
        run = subprocess.run(
            command, env=environment | variables, capture_output=True, text=True, check=False
        )
        return run.returncode, run.stderr.split(":")[0].strip()

    assert outcome() == (2, "UC1022")
    assert outcome(PYDANTIC_DISABLE_PLUGINS="") == (1, "the plugin is here")  # who asks for plugins has them
