"""What a job is told, so that its metrics have a name and a peak."""

import aws_cdk as cdk
import pytest

import ultracluster as uc
from ultracluster._foundation.cluster_name import name_cluster

pytestmark = pytest.mark.synth

IMAGE = "111111111111.dkr.ecr.us-east-2.amazonaws.com/train:1"


def environment(stack: cdk.Stack, instance_type: str, **given: str) -> dict[str, str]:
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type=instance_type,
        node_count=2,
        image_id="ami-0123456789abcdef0",
        zone_id="use2-az3",
    )
    job = cluster.add_multi_node_job("train", image=IMAGE, command=["train.py"], environment=given)
    return {name: value for name, value in job.environment.items() if name.startswith("UC_")}


@pytest.fixture(scope="module")
def app() -> cdk.App:
    return cdk.App()


def stack_of(app: cdk.App, name: str) -> cdk.Stack:
    return cdk.Stack(app, name, env=cdk.Environment(region="us-east-2"))


def test_a_cluster_is_named_after_its_stack(app: cdk.App) -> None:
    told = environment(stack_of(app, "Pretrain"), "trn2.48xlarge")
    assert (told["UC_CLUSTER"], told["UC_JOB"]) == ("Pretrain", "train")
    assert told["UC_PEAK_TFLOPS"] == "fp8:20784,bf16:10672,fp16:10672,tf32:10672,fp32:2896"


def test_a_cluster_of_a_rollout_has_the_name_of_the_file(app: cdk.App) -> None:
    stack = stack_of(app, "pretrain-us-east-2-Cluster")
    name_cluster(stack, "pretrain")
    assert environment(stack, "trn2.48xlarge")["UC_CLUSTER"] == "pretrain"


def test_a_chip_without_a_known_peak_gets_none(app: cdk.App) -> None:
    assert "UC_PEAK_TFLOPS" not in environment(stack_of(app, "Other"), "p4d.24xlarge")


def test_a_name_that_the_user_gives_wins(app: cdk.App) -> None:
    assert environment(stack_of(app, "Given"), "trn2.48xlarge", UC_JOB="sweep-3")["UC_JOB"] == "sweep-3"
