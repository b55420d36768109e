"""Resolve the dependencies between the job definitions of a cluster. Pure: no AWS calls."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ultracluster_catalog.names.submission_tags import AFTER_TAG, ARRAY_SIZE_TAG, QUEUE_TAG
from ultracluster_spec.findings import Finding, FindingsError, quote
from ultracluster_spec.job_definitions import refuse_circle
from ultracluster_spec.record import RuleRecord

Definition = Mapping[str, Any]


def job_name(definition: Definition) -> str | None:
    """Return the name of a job in the rollout, from its log stream prefix; CloudFormation generates the other name."""
    ranges = definition.get("nodeProperties", {}).get("nodeRangeProperties", [])
    container = ranges[0].get("container", {}) if ranges else definition.get("containerProperties", {})
    options: Mapping[str, str] = container.get("logConfiguration", {}).get("options", {})
    return options.get("awslogs-stream-prefix")


def dependencies_of(definition: Definition) -> tuple[str, ...]:
    """Return the names of the jobs that have to succeed first."""
    return tuple(str(definition.get("tags", {}).get(AFTER_TAG, "")).split())


def array_size_of(definition: Definition) -> int | None:
    """Return the size of an array job, or None for a job without an array."""
    size = definition.get("tags", {}).get(ARRAY_SIZE_TAG)
    return None if size is None else int(size)


def queue_of(definition: Definition) -> str | None:
    """Return the ARN of the queue of a job, or None for the default queue of the cluster."""
    arn = definition.get("tags", {}).get(QUEUE_TAG)
    return None if arn is None else str(arn)


def refuse_definition(problem: str, *, allowed: str = "", remedy: str = "") -> Finding:
    """Return the finding (UC6203) about a job that the cluster does not define."""
    return Finding(code="UC6203", problem=problem, allowed=allowed, remedy=remedy)


def submission_order(definition: Definition, cluster: Iterable[Definition]) -> list[Definition]:
    """Return a job and all its dependencies in the order in which to submit them.

    The cluster must define each of them (UC6203), and none may depend on itself (UC6113).
    """
    jobs_by_name = {name: job for job in cluster if (name := job_name(job))}
    order: list[Definition] = []
    path: list[str] = []

    def add(job: Definition) -> None:
        name = job_name(job) or ""
        if any(submitted is job for submitted in order):
            return
        if name in path:
            circle = [*path[path.index(name) :], name]
            raise FindingsError([refuse_circle(circle, remedy="Deploy the cluster again")])
        path.append(name)
        for name_before in dependencies_of(job):
            if name_before not in jobs_by_name:
                problem = f"{quote(name)} depends on {quote(name_before)}, which is unknown"
                remedy = "Name the cluster, or submit the job with --alone and --depends-on"
                raise FindingsError([refuse_definition(problem, remedy=remedy)])
            add(jobs_by_name[name_before])
        path.pop()
        order.append(job)

    add(definition)
    return order


RECORDS: Final = (
    RuleRecord(
        "UC6203",
        "A job that is submitted is one that the cluster defines.",
        remedy="Specify a job that the finding lists, or the ARN of an active job definition.",
        source="Our decision: jobs are found by the name in the rollout, which is in a tag of the job definition.",
    ),
)
