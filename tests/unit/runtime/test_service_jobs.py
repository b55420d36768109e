"""Training jobs are validated before they wait, against botocore's models."""

import json
from typing import Any

import pytest
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.service_jobs import training_job, training_job_submission
from ultracluster_spec.findings import FindingsError

JOB: dict[str, Any] = {
    "name": "pretrain",
    "image": "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20",
    "command": ["python3", "train.py"],
    "role_arn": "arn:aws:iam::123456789012:role/training",
    "instance_type": "ml.trn2.48xlarge",
    "instance_count": 4,
    "output_s3_url": "s3://bucket/output",
}
SUBMISSION = {"name": "pretrain", "job_queue": "queue", "share": "research"}


def refusal(request: dict[str, Any], **changes: Any) -> str:
    with pytest.raises(FindingsError) as caught:
        training_job_submission(request, **SUBMISSION | changes)
    assert {finding.code for finding in caught.value.findings} == {"UC6338"}
    return str(caught.value)


def test_botocore_accepts_the_requests(aws: StubbedAws) -> None:
    plan = "arn:aws:sagemaker:us-east-2:123456789012:training-plan/pretrain"
    request = training_job(
        **JOB, checkpoint_s3_url="s3://bucket/c", environment={"A": "b"}, training_plan_arn=plan
    )
    submission = training_job_submission(request, **SUBMISSION, attempts=10, priority=9999)
    made = {"TrainingJobArn": "arn:aws:sagemaker:us-east-2:123456789012:training-job/x"}
    aws.answer("sagemaker", "create_training_job", made, request)
    aws.client("sagemaker").create_training_job(**request)
    submitted = {"jobArn": "arn", "jobName": "pretrain", "jobId": "1"}
    aws.answer("batch", "submit_service_job", submitted, submission)
    aws.client("batch").submit_service_job(**submission)
    assert json.loads(submission["serviceRequestPayload"]) == request
    assert request["TrainingJobName"].startswith("AWSBatch")
    assert request["ResourceConfig"]["TrainingPlanArn"] == plan


def test_omits_unspecified_parameters() -> None:
    request = training_job(**JOB)
    assert "CheckpointConfig" not in request
    assert "TrainingPlanArn" not in request["ResourceConfig"]
    assert "schedulingPriority" not in training_job_submission(request, **SUBMISSION)


def test_refuses_what_sagemaker_does_not_know() -> None:
    request = training_job(**JOB)
    assert "Unknown parameter" in refusal(request | {"Instances": 4})
    assert "Missing required parameter" in refusal({k: v for k, v in request.items() if k != "RoleArn"})
    assert "Invalid type for parameter" in refusal(training_job(**JOB | {"instance_count": "4"}))
    assert "Invalid length" in refusal(training_job(**JOB | {"role_arn": "x"}))
    assert "no instance type 'trn2.48xlarge'" in refusal(
        training_job(**JOB | {"instance_type": "trn2.48xlarge"})
    )


def test_refuses_what_batch_rejects() -> None:
    request = training_job(**JOB)
    assert "Invalid type for parameter quotaShareName" in refusal(request, share=None)
    for attempts in (0, 11):
        assert f"got {attempts} attempts" in refusal(request, attempts=attempts)
    for priority in (-1, 10_000):
        assert f"got priority {priority}" in refusal(request, priority=priority)
    assert training_job_submission(request, **SUBMISSION, attempts=1, priority=0)


def test_refuses_an_oversized_payload() -> None:
    size = len(json.dumps(training_job(**JOB, environment={"A": ""}), separators=(",", ":")))
    fits = "a" * (10 * 1024 - size)
    assert training_job_submission(training_job(**JOB, environment={"A": fits}), **SUBMISSION)
    assert "exceeds 10,240" in refusal(training_job(**JOB, environment={"A": f"{fits}a"}))
