"""Submit a job after the jobs that it depends on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster_cli.jobs.session import aws_errors_as_findings
from ultracluster_runtime.jobs.dependencies import dependencies_of, job_name, queue_of, submission_order
from ultracluster_runtime.jobs.queues import Client, Queue, definitions_of
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
    with aws_errors_as_findings():
        job_definitions = (
            [definition] if alone else submission_order(definition, definitions_of(queue, client=client))
        )
        limits: dict[str, tuple[bool, int | None]] = {}
        requests = []
        for job in job_definitions:
            last = job is job_definitions[-1]
            arn = queue.arn if last and named_queue else queue_of(job) or queue.arn
            if arn not in limits:
                limits[arn] = Queue(arn=arn, definitions=()).limits(client)
            fair_share, most_nodes = limits[arn]
            dependencies = [] if alone else [*dependencies_of(job)]  # names, until there are ids
            requests.append(
                submission(
                    name=name if last else job_name(job) or str(job["jobDefinitionName"]),
                    queue=arn,
                    definition=job,
                    fair_share=fair_share,
                    most_nodes=most_nodes,
                    share=share,
                    after=[*dependencies, *after] if last else dependencies,
                    **(settings if last else {}),
                )
            )
    submitted: dict[str, Submitted] = {}
    for job, request in zip(job_definitions, requests, strict=True):
        for dependency in request.get("dependsOn", ()):
            if dependency["jobId"] in submitted:
                dependency["jobId"] = submitted[dependency["jobId"]].job_id
        with aws_errors_as_findings(_remedy(list(submitted.values()))):
            response = client("batch").submit_job(**request)
        submitted[job_name(job) or ""] = Submitted(
            job_id=response["jobId"], arn=response.get("jobArn"), name=request["jobName"]
        )
    return list(submitted.values())


def _remedy(submitted: Sequence[Submitted]) -> str:
    advice = "If no answer came, look with `ultracluster jobs list` before submitting it again"
    earlier = ", ".join(f"{job.name} as {job.job_id}" for job in submitted)
    return f"{advice}; submitted before: {earlier}; `ultracluster jobs stop` ends them" if earlier else advice
