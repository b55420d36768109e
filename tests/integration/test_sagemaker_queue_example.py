"""examples/sagemaker-queue on the local AWS: deployed, a training job submitted by its script, changed and deleted."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.bare_environment import bare_environment

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/sagemaker-queue"
REGION = "us-east-2"
TEMPLATE = "SageMakerQueue.template.json"


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sagemaker-queue") / "cdk.out"
    done = subprocess.run(
        [sys.executable, str(EXAMPLE / "app.py")],
        env=bare_environment(CDK_OUTDIR=str(directory), CDK_VALIDATION="true"),
        cwd=directory.parent,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return directory


def test_the_cdk_validator_finds_nothing(assembly: Path) -> None:
    report = json.loads((assembly / "validation-report.json").read_text())
    assert [each["violations"] for each in report["pluginReports"]] == []


def submit(local_aws: LocalAws, *options: str) -> subprocess.CompletedProcess[str]:
    image = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
    command = [
        sys.executable,
        str(EXAMPLE / "submit.py"),
        *options,
        "SageMakerQueue",
        image,
        "--",
        "train.sh",
    ]
    environment = local_aws.environment(REGION, base=bare_environment())
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=False)


def test_a_training_job_waits_in_the_share_that_it_names(local_aws: LocalAws, assembly: Path) -> None:
    assert [each.status for each in deploy_assembly(local_aws, assembly)] == ["CREATE_COMPLETE"]
    batch = local_aws.client("batch", REGION)
    (queue,) = batch.describe_job_queues()["jobQueues"]
    (environment,) = batch.describe_service_environments()["serviceEnvironments"]
    assert queue["serviceEnvironmentOrder"] == [
        {"order": 1, "serviceEnvironment": environment["serviceEnvironmentArn"]}
    ]
    assert environment["capacityLimits"] == [{"capacityUnit": "ml.trn2.48xlarge", "maxCapacity": 4}]

    done = submit(local_aws, "--instances", "3")
    assert done.returncode == 0, done.stderr
    job = batch.describe_service_job(jobId=done.stdout.strip())
    assert (job["status"], job["quotaShareName"], job["jobQueue"]) == (
        "RUNNABLE",
        "research",
        queue["jobQueueArn"],
    )
    payload: dict[str, Any] = json.loads(job["serviceRequestPayload"])
    assert payload["ResourceConfig"]["InstanceCount"] == 3
    assert payload["ResourceConfig"]["TrainingPlanArn"].endswith("training-plan/pretrain")
    assert payload["AlgorithmSpecification"]["ContainerEntrypoint"] == ["train.sh"]
    roles = {role["Arn"] for role in local_aws.client("iam").list_roles()["Roles"]}
    assert payload["RoleArn"] in roles
    assert "does not exist" in submit(local_aws, "--share", "nobody").stderr

    batch.terminate_service_job(jobId=job["jobId"], reason="test")
    assert batch.describe_service_job(jobId=job["jobId"])["status"] == "FAILED"


def test_quotas_change_in_place_and_deleting_leaves_no_queue(
    local_aws: LocalAws, assembly: Path, tmp_path: Path
) -> None:
    deploy_assembly(local_aws, assembly)
    batch = local_aws.client("batch", REGION)
    (queue,) = batch.describe_job_queues()["jobQueues"]
    other = tmp_path / "cdk.out"
    other.mkdir()
    for path in assembly.iterdir():
        text = path.read_text()
        if path.name == TEMPLATE:
            assert '"MaxCapacity": 3' in text
            text = text.replace('"MaxCapacity": 3', '"MaxCapacity": 4')
        (other / path.name).write_text(text)

    assert [each.status for each in deploy_assembly(local_aws, other)] == ["UPDATE_COMPLETE"]
    assert [one["jobQueueArn"] for one in batch.describe_job_queues()["jobQueues"]] == [queue["jobQueueArn"]]
    shares = batch.list_quota_shares(jobQueue=queue["jobQueueArn"])["quotaShares"]
    assert {one["quotaShareName"]: one["capacityLimits"][0]["maxCapacity"] for one in shares} == {
        "research": 4,
        "evaluation": 1,
    }
    assert {each.status for each in destroy_assembly(local_aws, other)} == {"DELETE_COMPLETE"}
    assert batch.describe_job_queues()["jobQueues"] == []
    assert batch.describe_service_environments()["serviceEnvironments"] == []
