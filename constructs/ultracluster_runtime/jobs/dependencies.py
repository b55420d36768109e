"""Which jobs have to be submitted before a job, from what the definitions of a cluster say. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from ultracluster_catalog.names.submission_tags import AFTER_TAG, ARRAY_SIZE_TAG, QUEUE_TAG
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.job_definitions import refuse_circle

__all__ = [
    "array_size_of",
    "dependencies_of",
    "job_name",
    "queue_of",
    "refuse_definition",
    "submission_order",
]

Definition = Mapping[str, Any]


def job_name(definition: Definition) -> str | None:
    """The name in the rollout: constructs put it in front of the log streams; CloudFormation chose the other one.

    Args:
        definition: A job definition, as AWS Batch describes it.
    """
    ranges = definition.get("nodeProperties", {}).get("nodeRangeProperties", [])
    container = ranges[0].get("container", {}) if ranges else definition.get("containerProperties", {})
    options: Mapping[str, str] = container.get("logConfiguration", {}).get("options", {})
    return options.get("awslogs-stream-prefix")


def dependencies_of(definition: Definition) -> tuple[str, ...]:
    """Names of the jobs that have to succeed before.

    Args:
        definition: A job definition, as AWS Batch describes it.
    """
    return tuple(str(definition.get("tags", {}).get(AFTER_TAG, "")).split())


def array_size_of(definition: Definition) -> int | None:
    """Jobs of the array; None for a job that is none.

    Args:
        definition: A job definition, as AWS Batch describes it.
    """
    size = definition.get("tags", {}).get(ARRAY_SIZE_TAG)
    return None if size is None else int(size)


def queue_of(definition: Definition) -> str | None:
    """ARN of the queue that the job is meant for; None for the cluster's own.

    Args:
        definition: A job definition, as AWS Batch describes it.
    """
    arn = definition.get("tags", {}).get(QUEUE_TAG)
    return None if arn is None else str(arn)


def refuse_definition(problem: str, *, allowed: str = "", remedy: str = "") -> Finding:
    """Return the finding (UC6203) about a job that the cluster does not define.

    Args:
        problem: The problem.
        allowed: Jobs that it defines. Default: not stated.
        remedy: What to do. Default: not stated.
    """
    return Finding(code="UC6203", problem=problem, allowed=allowed, remedy=remedy)


def submission_order(definition: Definition, cluster: Iterable[Definition]) -> list[Definition]:
    """Give all that has to be submitted for a job, itself last, each after what it waits for.

    Args:
        definition: The job.
        cluster: Definitions of its cluster.

    Raises:
        FindingsError: If it waits for a job that the cluster does not define (UC6203), or for itself (UC6113).
    """
    named = {name: one for one in cluster if (name := job_name(one))}
    order: list[Definition] = []
    open_names: list[str] = []

    def add(one: Definition) -> None:
        name = job_name(one) or ""
        if any(done is one for done in order):
            return
        if name in open_names:
            circle = [*open_names[open_names.index(name) :], name]
            raise FindingsError([refuse_circle(circle, remedy="Deploy the cluster again")])
        open_names.append(name)
        for other in dependencies_of(one):
            if other not in named:
                problem = f"{quote(name)} waits for {quote(other)}, which is not known here"
                remedy = "Give the cluster by its name, or submit the job with --alone and --after"
                raise FindingsError([refuse_definition(problem, remedy=remedy)])
            add(named[other])
        open_names.pop()
        order.append(one)

    add(definition)
    return order
