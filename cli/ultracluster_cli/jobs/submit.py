"""Submit a job after the jobs that it depends on."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

import typer
from botocore.exceptions import ClientError

from ultracluster_cli._aws.target import time_there
from ultracluster_cli.jobs.session import aws_errors_as_findings, read_duration, read_resume, read_variables
from ultracluster_cli.options import ProfileOption
from ultracluster_runtime.functions.clients import ONCE, Clients
from ultracluster_runtime.jobs.closed_queues import explain_closed_queue
from ultracluster_runtime.jobs.dependencies import dependencies_of, job_name, queue_of, submission_order
from ultracluster_runtime.jobs.queues import Queue, list_definitions
from ultracluster_runtime.jobs.resumes import resume_table
from ultracluster_runtime.jobs.submission import submission
from ultracluster_runtime.lifecycle.reader import resumes_left
from ultracluster_spec.findings import FindingsError


@dataclass(frozen=True, kw_only=True, slots=True)
class SubmissionOptions:
    """Options of the commands that submit a job."""

    nodes: Annotated[
        int | None, typer.Option(help="Number of nodes. Default: nodes of the job definition.")
    ] = None
    env: Annotated[
        list[str] | None, typer.Option(help="Environment variable NAME=VALUE on every node; repeatable.")
    ] = None
    timeout: Annotated[str | None, typer.Option(help="Timeout of each attempt, such as 12h.")] = None
    resume: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of times to submit the job again after a drain or the loss of a node, 0 to 100. Default: resume of the job."
        ),
    ] = None
    no_resume: Annotated[
        bool, typer.Option("--no-resume", help="Do not submit the job again, whatever its definition says.")
    ] = False
    share: Annotated[str | None, typer.Option(help="Fair-share identifier. Default: default.")] = None
    profile: ProfileOption = None

    def settings(self) -> dict[str, Any]:
        """Return what the options say of the job, or refuse what none of them may be."""
        timeout = read_duration("--timeout", self.timeout) if self.timeout else None
        return {
            "nodes": self.nodes,
            "environment": read_variables(self.env or []),
            "timeout_seconds": timeout and int(timeout.total_seconds()),
            "resume": read_resume(self.resume, no_resume=self.no_resume),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """A submitted job."""

    job_id: str
    arn: str | None
    name: str
    resumes: int  # how often it is submitted again after a drain or the loss of a node


def submit_all(
    definition: Mapping[str, Any],
    *,
    queue: Queue,
    client: Clients,
    name: str,
    named_queue: bool = False,
    alone: bool,
    depends_on: Sequence[str] = (),
    share: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> list[Submitted]:
    """Submit a job and its dependencies, after checking all of them.

    A named queue overrides that of the job. The clients must not retry. Return the submitted jobs, the job itself
    last.
    """
    with aws_errors_as_findings():
        job_definitions = (
            [definition] if alone else submission_order(definition, list_definitions(queue, client=client))
        )
        limits: dict[str, tuple[bool, int | None]] = {}
        requests = []
        for job in job_definitions:
            last = job is job_definitions[-1]
            arn = queue.arn if last and named_queue else queue_of(job) or queue.arn
            if arn not in limits:
                wanted = Queue(arn=arn, definitions=())
                if closed := explain_closed_queue(wanted.described(client), now=time_there(), client=client):
                    raise FindingsError.message(closed.evidence, remedy=closed.remedy)
                limits[arn] = wanted.limits(client)
                if last and settings.get("resume"):
                    _refuse_unless_resumed(arn, client)
            fair_share, most_nodes = limits[arn]
            dependencies = (
                [] if alone else [*dependencies_of(job)]
            )  # job names, which are replaced by IDs below
            requests.append(
                submission(
                    name=name if last else job_name(job) or str(job["jobDefinitionName"]),
                    queue=arn,
                    definition=job,
                    fair_share=fair_share,
                    most_nodes=most_nodes,
                    share=share,
                    after=[*dependencies, *depends_on] if last else dependencies,
                    **(settings if last else {}),
                )
            )
    submitted: dict[str, Submitted] = {}
    for job, request in zip(job_definitions, requests, strict=True):
        for dependency in request.get("dependsOn", ()):
            if dependency["jobId"] in submitted:
                dependency["jobId"] = submitted[dependency["jobId"]].job_id
        with aws_errors_as_findings(_remedy(list(submitted.values()))):
            response = client("batch", config=ONCE).submit_job(**request)
        submitted[job_name(job) or ""] = Submitted(
            job_id=response["jobId"],
            arn=response.get("jobArn"),
            name=request["jobName"],
            resumes=resumes_left(request, job),
        )
    return list(submitted.values())


def _refuse_unless_resumed(queue: str, client: Clients) -> None:
    """Refuse a resume that no function would see to; who may not read the stack is believed."""
    with suppress(ClientError):
        if resume_table(queue, client=client) is None:
            problem = "the job would not be submitted again: no job of the cluster has resume, and so it has no function for it"
            raise FindingsError.message(problem, remedy="Set resume of a job, and deploy the cluster")


def _remedy(submitted: Sequence[Submitted]) -> str:
    advice = "If there was no response, check `ultracluster jobs list` before retrying"
    earlier = ", ".join(f"{job.name} as {job.job_id}" for job in submitted)
    return (
        f"{advice}; already submitted: {earlier}; stop them with `ultracluster jobs stop`"
        if earlier
        else advice
    )
