"""AWS Batch service jobs (Amazon SageMaker training), which moto lacks: they wait in RUNNABLE, as nothing trains here.

The rules are those of API_SubmitServiceJob, botocore 1.44.5. They are listed and ended like other jobs.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import (
    batch_of,
    client_error,
    get,
    milliseconds,
    settings_of,
)
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers"]

handlers = Handlers(service="batch")

_BY_POLICY = {"shareIdentifier": "fairsharePolicy", "quotaShareName": "quotaSharePolicy"}


@handlers("SubmitServiceJob")
def submit_service_job(request: Request) -> Mapping[str, Any]:
    """Queue a job."""
    given, batch = settings_of(request), batch_of(request.region)
    queue = get(batch.queues, "jobQueueName", given["jobQueue"])
    if not queue.get("serviceEnvironmentOrder"):
        raise client_error(f"Job queue {queue['jobQueueName']} must have the type {given['serviceJobType']}")
    if queue["state"] != "ENABLED":
        raise client_error(f"Job queue {queue['jobQueueName']} is not enabled: it is DISABLED")
    policy = batch.policies.get(queue.get("schedulingPolicyArn") or "", {})
    for member, kind in _BY_POLICY.items():
        if (member in given) != (kind in policy):
            verb = "must be" if kind in policy else "can't be"
            raise client_error(f"{member} {verb} specified for the job queue {queue['jobQueueName']}")
    job_id = str(uuid.uuid4())
    given.pop("clientToken", None)
    batch.service_jobs[job_id] = {
        "tags": {},
        "attempts": [],
        **given,
        "jobId": job_id,
        "jobArn": request.arn("batch", f"service-job/{job_id}"),
        "jobQueue": queue["jobQueueArn"],
        "status": "RUNNABLE",
        "createdAt": milliseconds(),
        "isTerminated": False,
    }
    return {name: batch.service_jobs[job_id][name] for name in ("jobArn", "jobName", "jobId")}


@handlers("DescribeServiceJob")
def describe_service_job(request: Request) -> Mapping[str, Any]:
    """Describe a job."""
    return _job(request)


@handlers("UpdateServiceJob")
def update_service_job(request: Request) -> Mapping[str, Any]:
    """Set the priority of a job."""
    job = _job(request)
    job["schedulingPriority"] = request.parameters["schedulingPriority"]
    return {name: job[name] for name in ("jobArn", "jobName", "jobId")}


def _job(request: Request) -> dict[str, Any]:
    return get(batch_of(request.region).service_jobs, "jobId", request.parameters["jobId"])
