"""AWS Batch job dependencies and array jobs, whose status is derived from other jobs when it is read."""

import copy
from typing import Any

from ultracluster_local.services.batch.state import (
    FINAL_STATES,
    Batch,
    client_error,
    finish_job,
    milliseconds,
)

__all__ = ["add_children", "check_dependencies", "settle"]

_CHILD_FAILED = (
    "Array Child Job failed"  # public functions that handle the events of AWS Batch look for these words
)


def check_dependencies(batch: Batch, dependencies: list[dict[str, Any]], *, size: int = 0) -> None:
    """Refuse invalid dependencies as SubmitJob does.

    Args:
        batch: Resources of the Region.
        dependencies: Dependencies as submitted.
        size: Size of the array that has them. Default: no array.

    Raises:
        ServiceError: If there are too many, a job is unknown, or the type is not one for this job.
    """
    for dependency in dependencies:
        kind, before = dependency.get("type"), dependency.get("jobId")
        if kind and not size:  # API_JobDependency: both types are for arrays
            raise client_error(f"A dependency of type {kind} is for array jobs only")
        if kind == "SEQUENTIAL" and before is None:
            continue
        if before not in batch.jobs:
            raise client_error(f"Job {before} of dependsOn does not exist")
        if kind == "N_TO_N" and batch.jobs[before].get("arrayProperties", {}).get("size") != size:
            raise client_error(f"An N_TO_N dependency needs an array of the same size, {size}")


def add_children(batch: Batch, job: dict[str, Any], size: int) -> None:
    """Add the child jobs of an array job, with IDs as in AWS: the array's ID, a colon and the index.

    Args:
        batch: Resources of the Region.
        job: Array job.
        size: Array size.
    """
    for index in range(size):
        child = {
            **copy.deepcopy(job),
            "jobId": f"{job['jobId']}:{index}",
            "jobArn": f"{job['jobArn']}:{index}",
            "arrayProperties": {"index": index, "statusSummary": {}},
            "dependsOn": [],
        }
        batch.jobs[child["jobId"]] = child
    job["arrayProperties"] = {"size": size, "statusSummary": {}}


def settle(batch: Batch) -> None:
    """Update the status of jobs that depend on others, or consist of them.

    Args:
        batch: Resources of the Region.
    """
    for job in list(batch.jobs.values()):  # in the order of submission: jobs depend on earlier ones only
        array = job.get("arrayProperties", {})
        if "index" in array:
            continue  # the status of a child follows its array job
        if "size" in array:
            _settle_array(batch, job)
        elif job["status"] == "PENDING" and (after := _after_dependencies(batch, job)) is not None:
            _move(job, after)


def _before(job: dict[str, Any], dependency: dict[str, Any], index: int) -> str | None:
    """Return the ID of the job that a job, or a child of an array, waits for by a dependency; None for none.

    https://docs.aws.amazon.com/batch/latest/userguide/job_dependencies.html (2026-11-28)
    """
    if dependency.get("type") == "SEQUENTIAL":
        return f"{job['jobId']}:{index - 1}" if index else None
    return f"{dependency['jobId']}:{index}" if dependency.get("type") == "N_TO_N" else dependency["jobId"]


def _after_dependencies(batch: Batch, job: dict[str, Any], index: int = 0) -> str | None:
    before = [_before(job, one, index) for one in job["dependsOn"]]
    states = {batch.jobs[one]["status"] for one in before if one}
    if "FAILED" in states:
        return "FAILED"
    return "RUNNABLE" if states <= {"SUCCEEDED"} else None


def _move(job: dict[str, Any], status: str) -> None:
    if status == "FAILED":
        finish_job(job, reason="Dependent Job failed")
    else:
        job["status"] = status


def _settle_array(batch: Batch, job: dict[str, Any]) -> None:
    size = job["arrayProperties"]["size"]
    children = [batch.jobs[f"{job['jobId']}:{index}"] for index in range(size)]
    for index, child in enumerate(children):
        if job["status"] in FINAL_STATES and child["status"] not in FINAL_STATES:
            finish_job(
                child, reason=job.get("statusReason", "")
            )  # the array was canceled or terminated as a whole
        elif child["status"] == "PENDING" and (after := _after_dependencies(batch, job, index)) is not None:
            _move(child, after)
    states = [child["status"] for child in children]
    job["arrayProperties"]["statusSummary"] = {state: states.count(state) for state in sorted(set(states))}
    if job["status"] not in FINAL_STATES and set(states) <= FINAL_STATES:
        job["status"] = "FAILED" if "FAILED" in states else "SUCCEEDED"
        job["stoppedAt"] = milliseconds()
        if "FAILED" in states:
            job["statusReason"] = _CHILD_FAILED
