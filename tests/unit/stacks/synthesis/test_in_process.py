"""A synthesis imports the modules of aws_cdk that a cluster needs, and no others of ours."""

import subprocess
import sys

import pytest

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
