"""The environment of a job has no credential: everybody reads it who may describe the job."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from tests.unit.ultracluster.builders import IMAGE, described, new_stack, queue, ultra_cluster

import ultracluster as uc
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

KEY = "AKIAIOSFODNN7EXAMPLE"
PRIVATE = "-----BEGIN RSA PRIVATE KEY-----"


def environment(instance_type: str, **given: str) -> Mapping[str, str]:
    cluster = ultra_cluster(new_stack(), instance_type=instance_type)
    job = uc.Job(image=IMAGE, command=("train.py",), environment=given)
    return cluster.add_multi_node_job("train", job).environment


def test_a_chip_without_a_known_peak_gets_none() -> None:
    assert "UC_PEAK_TFLOPS" not in environment("p4d.24xlarge")


def test_a_name_set_by_the_user_wins() -> None:
    assert environment("trn2.48xlarge", UC_JOB="sweep-3")["UC_JOB"] == "sweep-3"


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    return new_stack()


@pytest.fixture(scope="module")
def training(stack: cdk.Stack) -> uc.TrainingQueue:
    return queue(stack)


def job(training: uc.TrainingQueue, name: str, **given: Any) -> uc.SingleNodeJob:
    arguments: dict[str, Any] = {"command": ["train.py"], "environment": {}}
    description, others = described(image=IMAGE, **arguments | given)
    return uc.SingleNodeJob(cdk.Stack.of(training), name, description, queue=training, **others)


def refused(training: uc.TrainingQueue, **given: Any) -> list[tuple[str, str]]:
    with pytest.raises(FindingsError) as error:
        job(training, "Refused", **given)
    assert KEY not in str(error.value)
    assert PRIVATE not in str(error.value)
    return [(finding.code, finding.path) for finding in error.value.findings]


def test_rejects_values_that_look_like_credentials_without_printing_them(training: uc.TrainingQueue) -> None:
    environment = {
        "LEVEL": f"x {KEY}",
        "SLACK": "xoxb-0123456789-abc",
        "HF_TOKEN": "abc",
        "SEED": "1",
        "DB_PASS": "Tr41n-2026",
    }

    assert refused(training, environment=environment, command=["train.py", PRIVATE, f"--key={KEY}"]) == [
        ("UC2253", "environment.LEVEL"),
        ("UC2253", "environment.SLACK"),
        ("UC2253", "environment.HF_TOKEN"),
        ("UC2253", "environment.DB_PASS"),
        ("UC2253", "command[1]"),
        ("UC2253", "command[2]"),
    ]


@pytest.mark.parametrize(
    "reference",
    ["{{resolve:secretsmanager:token:SecretString}}", "{{resolve:ssm-secure:/token}}"],
)
def test_rejects_references_that_cloudformation_replaces_by_the_secret(
    training: uc.TrainingQueue, reference: str
) -> None:
    assert refused(training, environment={"KEY": reference}) == [("UC2253", "environment.KEY")]


def test_rejects_the_value_of_a_secret_of_the_cdk(stack: cdk.Stack, training: uc.TrainingQueue) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "token")
    value = secret.secret_value.unsafe_unwrap()

    assert refused(training, environment={"KEY": f"x{value}"}) == [("UC2253", "environment.KEY")]


def test_accepts_values_that_are_not_credentials(stack: cdk.Stack, training: uc.TrainingQueue) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "Other", "token")
    here, elsewhere = (
        s3.Bucket(cdk.Stack(stack.node.root, name, env=cdk.Environment(region=region)), "Data")  # type: ignore[arg-type]
        for name, region in (("Here", stack.region), ("Elsewhere", "us-west-2"))
    )
    environment = {
        "SECRET_ARN": secret.secret_arn,
        "TOKENIZERS_PARALLELISM": "false",
        "EOS_TOKEN": "<|im_end|>",
        "DATA": here.bucket_name,
        "COPY": elsewhere.bucket_name,
        "LEVEL": "{{resolve:ssm:/level}}",
    }

    assert job(training, "Taken", environment=environment).environment.items() >= environment.items()
