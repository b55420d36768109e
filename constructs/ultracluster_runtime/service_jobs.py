"""Build the request that submits a SageMaker training job to a `SageMakerTrainingQueue`.

AWS Batch does not validate the payload, so a mistake would show only after the job has waited for its instances. The
request is validated here against botocore's model of CreateTrainingJob instead.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import botocore.session
from botocore.validate import ParamValidator

from ultracluster_catalog.limits.sagemaker import MOST_SERVICE_PAYLOAD_BYTES, TRAINING_JOB_NAME_PREFIX
from ultracluster_spec.findings import Finding, FindingsError, quote
from ultracluster_spec.record import RuleRecord

__all__ = ["training_job", "training_job_submission"]

_MOST_ATTEMPTS = 10
_HIGHEST_PRIORITY = 9999


def training_job(
    *,
    name: str,
    image: str,
    command: Sequence[str],
    role_arn: str,
    instance_type: str,
    instance_count: int,
    output_s3_url: str,
    checkpoint_s3_url: str | None = None,
    environment: Mapping[str, str] | None = None,
    training_plan_arn: str | None = None,
    max_runtime_seconds: int = 86_400,
    volume_gib: int = 500,
) -> dict[str, Any]:
    """Return the parameters of CreateTrainingJob.

    Args:
        name: Name of the job. SageMaker's name starts with ``AWSBatch``, as the service role of AWS Batch requires.
        image: Container image in Amazon ECR, in the Region of the job.
        command: Program and arguments.
        role_arn: Execution role: `SageMakerTrainingQueue.execution_role`.
        instance_type: Instance type, such as ``ml.trn2.48xlarge``.
        instance_count: Number of instances.
        output_s3_url: S3 URL where SageMaker stores what the job writes to ``/opt/ml/model``.
        checkpoint_s3_url: S3 URL with which SageMaker synchronizes ``/opt/ml/checkpoints``. Default: none.
        environment: Environment variables. Default: none.
        training_plan_arn: Training plan to run in. Default: none, at On-Demand prices.
        max_runtime_seconds: Time after which SageMaker stops the job, in seconds. Default: 86,400, one day.
        volume_gib: Volume size of each instance in GiB. Default: 500.
    """
    resources: dict[str, Any] = {
        "InstanceType": instance_type,
        "InstanceCount": instance_count,
        "VolumeSizeInGB": volume_gib,
    }
    if training_plan_arn:
        resources["TrainingPlanArn"] = training_plan_arn
    request: dict[str, Any] = {
        "TrainingJobName": f"{TRAINING_JOB_NAME_PREFIX}-{name}",
        "RoleArn": role_arn,
        "AlgorithmSpecification": {
            "TrainingImage": image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": list(command),
        },
        "OutputDataConfig": {"S3OutputPath": output_s3_url},
        "ResourceConfig": resources,
        "StoppingCondition": {"MaxRuntimeInSeconds": max_runtime_seconds},
        "Environment": dict(environment or {}),
    }
    if checkpoint_s3_url:
        request["CheckpointConfig"] = {"S3Uri": checkpoint_s3_url}
    return request


def training_job_submission(
    request: Mapping[str, Any],
    *,
    name: str,
    job_queue: str,
    share: str,
    attempts: int = 1,
    priority: int | None = None,
) -> dict[str, Any]:
    """Return the parameters of SubmitServiceJob.

    Args:
        request: Parameters of CreateTrainingJob, such as those of `training_job`.
        name: Name of the job in AWS Batch.
        job_queue: Name or ARN of the queue.
        share: Name of the quota share.
        attempts: Maximum number of attempts, 1 to 10. Default: 1.
        priority: Priority within the share, 0 to 9999. Default: none.

    Raises:
        FindingsError: UC6338 if SageMaker or AWS Batch would reject the request: an unknown or missing parameter, a
            value of the wrong type or out of range, an unknown instance type, or a payload over the size limit.
    """
    payload = json.dumps(request, separators=(",", ":"), sort_keys=True)
    submission: dict[str, Any] = {
        "jobName": name,
        "jobQueue": job_queue,
        "quotaShareName": share,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "serviceRequestPayload": payload,
        "retryStrategy": {"attempts": attempts},
    }
    if priority is not None:
        submission["schedulingPriority"] = priority
    problems = _problems("sagemaker", "CreateTrainingJob", request)
    problems += _problems("batch", "SubmitServiceJob", submission)
    # botocore's model has no bounds for these; they are from the API reference of SubmitServiceJob.
    if attempts not in range(1, _MOST_ATTEMPTS + 1):
        problems.append(f"got {quote(attempts)} attempts; allowed are 1 to {_MOST_ATTEMPTS}")
    if priority is not None and priority not in range(_HIGHEST_PRIORITY + 1):
        problems.append(f"got priority {quote(priority)}; allowed are 0 to {_HIGHEST_PRIORITY}")
    if len(payload.encode()) > MOST_SERVICE_PAYLOAD_BYTES:
        problems.append(
            f"payload of {len(payload.encode()):,} bytes exceeds {MOST_SERVICE_PAYLOAD_BYTES:,} bytes"
        )
    if problems:
        remedy = "Correct the request; a queued job cannot be changed"
        raise FindingsError(Finding(code="UC6338", problem=problem, remedy=remedy) for problem in problems)
    return submission


def _problems(service: str, operation: str, request: Mapping[str, Any]) -> list[str]:
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    report = ParamValidator().validate(request, model.input_shape).generate_report()
    problems = [line for line in report.splitlines() if line]
    if service == "sagemaker":  # ParamValidator does not check enumerations
        types = model.input_shape.members["ResourceConfig"].members["InstanceType"].enum
        instance_type = (request.get("ResourceConfig") or {}).get("InstanceType")
        if instance_type is not None and instance_type not in types:
            problems.append(f"SageMaker has no instance type {quote(instance_type)}")
    return problems


RECORDS: Final = (
    RuleRecord(
        "UC6338",
        "A submitted training job is valid for SageMaker and AWS Batch.",
        remedy="Correct what the finding names before you submit: a queued job cannot be changed.",
        source="botocore 1.44.5, SageMaker CreateTrainingJob and Batch SubmitServiceJob, 2026; AWS Batch quotas, 2026-10.",
    ),
)
