"""The name under which a cluster publishes."""

from collections.abc import Mapping

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, ultra_cluster

from ultracluster import Job
from ultracluster._foundation.cluster_name import name_cluster

pytestmark = pytest.mark.slow


def environment(stack: cdk.Stack) -> Mapping[str, str]:
    cluster = ultra_cluster(stack, node_count=2)
    return cluster.add_multi_node_job("train", Job(image=IMAGE, command=("train.py",))).environment


def test_a_cluster_is_named_after_its_stack(stack: cdk.Stack) -> None:
    told = environment(stack)
    assert (told["UC_CLUSTER"], told["UC_JOB"]) == ("Test", "train")
    assert told["UC_PEAK_TFLOPS"] == "fp8:20784,bf16:10672,fp16:10672,tf32:10672,fp32:2896"


def test_a_cluster_of_a_rollout_has_the_name_of_the_file(stack: cdk.Stack) -> None:
    name_cluster(stack, "pretrain")
    assert environment(stack)["UC_CLUSTER"] == "pretrain"
