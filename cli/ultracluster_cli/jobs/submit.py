"""Submit a job after the jobs that it depends on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster_cli.jobs.session import answers
from ultracluster_runtime.jobs.dependencies import dependencies_of, job_name, queue_of, submission_order
from ultracluster_runtime.jobs.queues import Client, Queue, list_definitions
from ultracluster_runtime.jobs.submission import submission

__all__ = ["Submitted", "submit_all"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """A submitted job.

    Attributes:
        job_id: Its id.
        arn: Its ARN; None if AWS Batch gave none.
        name: Name of the run.
    """

    job_id: str
    arn: str | None
    name: str


def submit_all(
    definition: Mapping[str, Any],
    *,
    queue: Queue,
    client: Client,
    name: str,
    named_queue: bool,
    alone: bool,
    after: Sequence[str],
    share: str | None,
    settings: Mapping[str, Any],
) -> list[Submitted]:
    """Submit a job. Checks everything before the first request is sent.

    Args:
        definition: The job.
        queue: Queue that it goes to, unless it is meant for another one.
        client: Gives boto3 clients; none of them sends a request twice.
        name: Name of the run.
        named_queue: Whether a person chose the queue, which counts more than what the job says.
        alone: Whether to leave out the jobs that it depends on.
        after: Ids of further jobs that have to succeed before.
        share: Share identifier; of the jobs before as well.
        settings: What is changed for this run, as `submission` takes it.

    Returns:
        What was submitted, the job itself last.

    Raises:
        FindingsError: If something is wrong with one of the jobs, or AWS does not answer (UC6206).
    """
    with answers():
        order = (
            [definition] if alone else submission_order(definition, list_definitions(queue, client=client))
        )
        limits: dict[str, tuple[bool, int | None]] = {}
        requests = []
        for one in order:
            last = one is order[-1]
            arn = queue.arn if last and named_queue else queue_of(one) or queue.arn
            if arn not in limits:
                limits[arn] = Queue(arn=arn, definitions=()).limits(client)
            fair_share, most_nodes = limits[arn]
            waits = [] if alone else [*dependencies_of(one)]  # names, until there are ids
            requests.append(
                submission(
                    name=name if last else job_name(one) or str(one["jobDefinitionName"]),
                    queue=arn,
                    definition=one,
                    fair_share=fair_share,
                    most_nodes=most_nodes,
                    share=share,
                    after=[*waits, *after] if last else waits,
                    **(settings if last else {}),
                )
            )
    submitted: dict[str, Submitted] = {}
    for one, request in zip(order, requests, strict=True):
        for wait in request.get("dependsOn", ()):
            if wait["jobId"] in submitted:
                wait["jobId"] = submitted[wait["jobId"]].job_id
        with answers(_remedy(list(submitted.values()))):
            given = client("batch").submit_job(**request)
        submitted[job_name(one) or ""] = Submitted(
            job_id=given["jobId"], arn=given.get("jobArn"), name=request["jobName"]
        )
    return list(submitted.values())


def _remedy(submitted: Sequence[Submitted]) -> str:
    look = "If no answer came, look with `ultracluster jobs list` before submitting it again"
    before = ", ".join(f"{one.name} as {one.job_id}" for one in submitted)
    return f"{look}; submitted before: {before}; `ultracluster jobs stop` ends them" if before else look
