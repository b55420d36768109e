"""Decide whether an interrupted job is resubmitted, and with which arguments. Pure: no AWS calls, no clock."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_catalog.names.launcher import LOST_NODE
from ultracluster_catalog.names.submission_tags import RESUME_OF_TAG, RESUME_TAG
from ultracluster_runtime.lifecycle.plan import DRAIN_REASON
from ultracluster_runtime.lifecycle.reader import has_launcher

# Status reason of AWS Batch when the instance of a job is lost, as in the retry strategy of every job definition. The
# instance in it: "Host EC2 (instance i-0e234208f6fc9291f) terminated." (calypr/funnel#973).
_LOST: Final = re.compile(r"Host EC2(?: \(instance (i-[0-9a-f]+)\))?")

_SUFFIX: Final = re.compile(r"-resume-[0-9a-f]{8}$")
_LONGEST_NAME: Final = 128  # SubmitJob, API Reference, read 2026-11
_ID_IN_NAME: Final = 8
_SET_BY_BATCH: Final = "AWS_BATCH"  # reserved prefix of variables that AWS Batch sets itself


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """End of a job for a reason outside its program."""

    kind: str  # drained at the end of a Capacity Block, or lost with a node
    reason: str


def ending_of(job: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Ending | None:
    """Return why a job ended for a reason outside its program; None if it runs, or ended for another reason.

    `nodes` are those of a multi-node job or the children of an array, as AWS Batch describes them.
    """
    if job.get("status") != "FAILED":
        return None
    # An array ends with a reason of its own when its children are terminated.
    for part in [job, *nodes]:
        reason = str(part.get("statusReason", ""))
        if reason.startswith(DRAIN_REASON):
            return Ending(kind="drained", reason=reason.removeprefix("ultracluster: ").partition(";")[0])
    children = nodes if job.get("arrayProperties") else ()
    if any(part.get("isTerminated") or part.get("isCancelled") for part in [job, *children]):
        return None  # ended by a person, a time limit or a failed dependency
    # The end of a multi-node job is that of its main node. Another node that is lost first makes the main one fail.
    lost_before = [node for node in nodes if int(node.get("stoppedAt", 0)) <= int(job.get("stoppedAt", 0))]
    for text in _reasons([job, *lost_before]):
        if match := _LOST.match(text):
            node = match[1]
            return Ending(kind="lost", reason=f"node {node} was lost" if node else "a node was lost")
    # The launcher of the main node, or a child whose array lost another child, reports it by an exit code, which the program of
    # another tool may choose for something else.
    if has_launcher(job) and LOST_NODE in _exit_codes([job, *(children or nodes[:1])]):
        return Ending(kind="lost", reason="a node was lost")
    return None


def failed_dependencies(job: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the IDs of the jobs that a job waited for if it ended without having started, else none.

    A job whose dependency fails fails from PENDING without being terminated or cancelled (AWS Batch User Guide,
    job_dependencies, read 2026-11).
    """
    if job.get("status") != "FAILED" or job.get("startedAt"):
        return ()
    if job.get("isTerminated") or job.get("isCancelled"):
        return ()
    return tuple(entry["jobId"] for entry in job.get("dependsOn", []))


def _reasons(jobs: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for job in jobs:
        yield str(job.get("statusReason", ""))
        yield str(job.get("container", {}).get("reason", ""))
        for attempt in job.get("attempts", [])[-1:]:
            yield str(attempt.get("statusReason", ""))
            yield str(attempt.get("container", {}).get("reason", ""))


def _exit_codes(jobs: Iterable[Mapping[str, Any]]) -> Iterable[int | None]:
    for job in jobs:
        yield job.get("container", {}).get("exitCode")
        for attempt in job.get("attempts", [])[-1:]:
            yield attempt.get("container", {}).get("exitCode")


def resubmission(
    job: Mapping[str, Any], definition: Mapping[str, Any], *, left: int, after: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the arguments of SubmitJob that resubmit a job.

    DescribeJobs shows a job with its overrides merged into its definition, so the overrides are what differs from it.
    A job that has run waits for no other: those that it depended on have succeeded.
    """
    job_id = str(job["jobId"])
    suffix = f"-resume-{job_id[:_ID_IN_NAME]}"
    name = _SUFFIX.sub("", str(job["jobName"]))[: _LONGEST_NAME - len(suffix)] + suffix
    tags = {key: value for key, value in job.get("tags", {}).items() if not key.startswith("aws:")}
    request: dict[str, Any] = {
        "jobName": name,
        "jobQueue": job["jobQueue"],
        "jobDefinition": job["jobDefinition"],
        "tags": tags | {RESUME_TAG: str(left), RESUME_OF_TAG: job_id},
        **_overrides(job, definition),
    }
    if after:
        request["dependsOn"] = [{"jobId": other} for other in after]
    if size := job.get("arrayProperties", {}).get("size"):
        request["arrayProperties"] = {"size": size}
    if "shareIdentifier" in job:
        request["shareIdentifier"] = job["shareIdentifier"]
        request["schedulingPriorityOverride"] = int(job.get("schedulingPriority", 0))
    for member in ("parameters", "timeout", "propagateTags"):
        if job.get(member):
            request[member] = job[member]
    if retry := _changed(job, definition, "retryStrategy"):
        request["retryStrategy"] = retry
    return request


def _overrides(job: Mapping[str, Any], definition: Mapping[str, Any]) -> dict[str, Any]:
    if "nodeProperties" not in job:
        changes = _container_changes(job.get("container", {}), definition.get("containerProperties", {}))
        return _without_empty(containerOverrides=changes, **_other_changes(job, definition))
    ran, defined = job["nodeProperties"], definition["nodeProperties"]
    ranges = [
        {
            # AWS Batch accepts overrides only for exactly the node ranges of the definition.
            "targetNodes": other["targetNodes"],
            **_without_empty(
                containerOverrides=_container_changes(
                    node_range.get("container", {}), other.get("container", {})
                ),
                instanceTypes=_changed(node_range, other, "instanceTypes"),
                **_other_changes(node_range, other),
            ),
        }
        for node_range, other in zip(ran["nodeRangeProperties"], defined["nodeRangeProperties"], strict=True)
    ]
    overrides = _without_empty(
        numNodes=_changed(ran, defined, "numNodes"),
        nodePropertyOverrides=ranges if any(len(changes) > 1 for changes in ranges) else None,
    )
    return {"nodeOverrides": overrides} if overrides else {}


def _without_empty(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}


def _changed(ran: Mapping[str, Any], defined: Mapping[str, Any], member: str) -> Any:
    """Return a member that was overridden at submission; None if it is that of the definition."""
    return ran.get(member) if _normalized(ran.get(member)) != _normalized(defined.get(member)) else None


def _normalized(value: Any) -> Any:
    """Return a value without the empty members that AWS Batch adds when it describes a job."""
    if isinstance(value, Mapping):
        return {key: kept for key, member in value.items() if (kept := _normalized(member))}
    return value or None


def _other_changes(ran: Mapping[str, Any], defined: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overrides of consumable resources, and of the containers of a task with several."""
    containers = {
        container.get("name"): container
        for task in defined.get("ecsProperties", {}).get("taskProperties", [])
        for container in task.get("containers", [])
    }
    tasks = [
        {
            "containers": [
                {"name": container["name"], **changes}
                for container in task.get("containers", [])
                if (changes := _container_changes(container, containers.get(container["name"], {})))
            ]
        }
        for task in ran.get("ecsProperties", {}).get("taskProperties", [])
    ]
    changed = any(task["containers"] for task in tasks)
    return {
        "ecsPropertiesOverride": {"taskProperties": tasks} if changed else None,
        "consumableResourcePropertiesOverride": _changed(ran, defined, "consumableResourceProperties"),
    }


def _container_changes(ran: Mapping[str, Any], defined: Mapping[str, Any]) -> dict[str, Any]:
    known = {entry["name"]: entry.get("value") for entry in defined.get("environment", [])}
    variables = [
        {"name": entry["name"], "value": entry.get("value", "")}
        for entry in ran.get("environment", [])
        if known.get(entry["name"]) != entry.get("value") and not entry["name"].startswith(_SET_BY_BATCH)
    ]
    asked, usual = _requirements(ran), _requirements(defined)
    return _without_empty(
        environment=variables,
        command=_changed(ran, defined, "command"),
        instanceType=_changed(ran, defined, "instanceType"),
        resourceRequirements=[
            {"type": kind, "value": value}
            for kind, value in asked.items()
            if kind not in usual or float(value) != float(usual[kind])
        ],
    )


def _requirements(container: Mapping[str, Any]) -> dict[str, str]:
    """Return what a container asks for by type; vCPUs and memory also stand in members of their own, which AWS deprecates."""
    deprecated = {"VCPU": container.get("vcpus"), "MEMORY": container.get("memory")}
    listed = {entry["type"]: entry["value"] for entry in container.get("resourceRequirements", [])}
    return {kind: str(value) for kind, value in deprecated.items() if value} | listed
