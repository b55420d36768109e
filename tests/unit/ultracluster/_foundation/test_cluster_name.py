"""The name under which a cluster publishes."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.jobs.job_variables import cluster_environment, stack_of

from ultracluster._foundation.cluster_name import name_cluster

pytestmark = pytest.mark.slow


def test_a_cluster_is_named_after_its_stack(app: cdk.App) -> None:
    told = cluster_environment(stack_of(app, "Pretrain"), "trn2.48xlarge")
    assert (told["UC_CLUSTER"], told["UC_JOB"]) == ("Pretrain", "train")
    assert told["UC_PEAK_TFLOPS"] == "fp8:20784,bf16:10672,fp16:10672,tf32:10672,fp32:2896"


def test_a_cluster_of_a_rollout_has_the_name_of_the_file(app: cdk.App) -> None:
    stack = stack_of(app, "pretrain-us-east-2-Cluster")
    name_cluster(stack, "pretrain")
    assert cluster_environment(stack, "trn2.48xlarge")["UC_CLUSTER"] == "pretrain"
