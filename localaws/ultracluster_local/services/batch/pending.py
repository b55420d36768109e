"""AWS Batch job dependencies and array jobs, whose status is derived from other jobs when it is read."""

from typing import Any

from ultracluster_local.services.batch.state import (
    FINAL_STATES,
    Batch,
    client_error,
    finish_job,
    milliseconds,
    refused,
)

__all__ = ["add_children", "check_array", "check_dependencies", "settle"]

_MOST_DEPENDENCIES = 20
_MOST_CHILDREN = 10_000


def check_dependencies(batch: Batch, dependencies: list[dict[str, Any]]) -> None:
    """Refuse invalid dependencies as SubmitJob does.

    Args:
        batch: Resources of the Region.
        dependencies: Dependencies as submitted.

    Raises:
        ServiceError: If there are too many, a job is unknown, or the type is not supported.
    """
    if len(dependencies) > _MOST_DEPENDENCIES:
        # OpenNeuroOrg/openneuro#100 (2017-09-24)
        raise refused(f"Job cannot have more than {_MOST_DEPENDENCIES} dependencies")
    for dependency in dependencies:
        if dependency.get("type"):
            raise client_error("The local AWS does not support dependencies of type N_TO_N or SEQUENTIAL")
        if dependency.get("jobId") not in batch.jobs:
            raise client_error(f"Job {dependency.get('jobId')} of dependsOn does not exist")


def check_array(size: int, *, multi_node: bool) -> None:
    """Refuse an invalid array size as SubmitJob does.

    Args:
        size: Array size.
        multi_node: Whether the job definition is a multi-node one.

    Raises:
        ServiceError: If it is invalid.
    """
    if multi_node:
        raise client_error("Array properties are not supported for multi-node parallel jobs")
    if not 1 < size <= _MOST_CHILDREN:
        raise client_error(f"Array size must be between 2 and {_MOST_CHILDREN}")


def add_children(batch: Batch, job: dict[str, Any], size: int) -> None:
    """Add the child jobs of an array job, with IDs as in AWS: the array's ID, a colon and the index.

    Args:
        batch: Resources of the Region.
        job: Array job.
        size: Array size.
    """
    for index in range(size):
        child = {
            **job,
            "jobId": f"{job['jobId']}:{index}",
            "jobArn": f"{job['jobArn']}:{index}",
            "arrayProperties": {"index": index},
            "dependsOn": [],
            "container": dict(job["container"]),
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


def _after_dependencies(batch: Batch, job: dict[str, Any]) -> str | None:
    states = {batch.jobs[one["jobId"]]["status"] for one in job["dependsOn"]}
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
    after = _after_dependencies(batch, job)
    for child in children:
        if job["status"] in FINAL_STATES and child["status"] not in FINAL_STATES:
            finish_job(
                child, reason=job.get("statusReason", "")
            )  # the array was canceled or terminated as a whole
        elif child["status"] == "PENDING" and after is not None:
            _move(child, after)
    states = [child["status"] for child in children]
    job["arrayProperties"]["statusSummary"] = {state: states.count(state) for state in sorted(set(states))}
    if job["status"] not in FINAL_STATES and set(states) <= FINAL_STATES:
        job["status"] = "FAILED" if "FAILED" in states else "SUCCEEDED"
        job["stoppedAt"] = milliseconds()
