"""Open the Region, parse options, report AWS errors and open shells for `ultracluster jobs` and `ultracluster nodes`."""

import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from ultracluster_catalog.names.submission_tags import RESUME_OF_TAG, RESUME_TAG
from ultracluster_cli._aws.selection import project_clusters
from ultracluster_cli.output import echo, print_warning
from ultracluster_runtime.aws.aws_session import SIGN_IN, clients_of, is_not_signed_in, refuse_credentials
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_runtime.jobs.describe import (
    ENDED,
    describe_job,
    describe_jobs,
    list_jobs,
    node_count_of,
    short_reasons,
)
from ultracluster_runtime.jobs.logs import Line, find_stream, read_new, read_tail
from ultracluster_runtime.jobs.queues import Queue, region_from_arn
from ultracluster_runtime.jobs.resumes import PENDING, open_queues, pending_resumes
from ultracluster_runtime.jobs.submission import refuse_option
from ultracluster_spec.credentials import job_credential, variable_credential
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.job_definitions import VARIABLE

_DURATION = re.compile(r"([1-9][0-9]{0,8})([smhd])")
_ROW = ("job", "name", "state", "nodes", "since", "share", "resumes", "left", "reason")
_FOLLOW_SECONDS = 1.0
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def open_region(*names: str, region: str | None, profile: str | None) -> tuple[str, Clients]:
    """Return the Region of a command, or raise FindingsError without one, and its clients.

    The Region is that of the first ARN among the names, else the given one, the only one of the project's clusters, that of
    the environment or the profile.
    """
    clients = clients_of(profile)
    chosen_region = (
        next((arn_region for name in names if (arn_region := region_from_arn(name))), None)
        or region
        or _project_region()
        or clients.region
    )
    if not chosen_region:
        problem = "no Region given"
        remedy = "Specify --region or an ARN, or set AWS_REGION"
        raise FindingsError.message(problem, remedy=remedy)
    return chosen_region, clients.in_region(chosen_region)


def _project_region() -> str | None:
    """Return the Region of the project's clusters, or None if there are several or none."""
    regions = {cluster.region for cluster in project_clusters()}
    return regions.pop() if len(regions) == 1 else None


@contextmanager
def aws_errors_as_findings(
    remedy: str = "Check the credentials, their permissions and the Region",
) -> Iterator[None]:
    """Convert AWS errors to findings, and missing or expired credentials to UC9009."""
    try:
        yield
    except FindingsError:
        raise
    except AWS_ERRORS as error:
        if is_not_signed_in(error):
            raise refuse_credentials(problem_of(error), remedy=SIGN_IN) from error
        raise FindingsError.message(problem_of(error), remedy=remedy) from error


def report_notified(job: str, notified: Sequence[str], problem: str | None) -> None:
    """Print a warning if not all nodes of a job got the request for a checkpoint."""
    if problem is not None:
        print_warning(f"{len(notified)} nodes of {job} were notified: {problem}")


def read_duration(option: str, text: str) -> timedelta:
    """Read a duration such as ``90m``; any other text is UC6204."""
    match = _DURATION.fullmatch(text)
    if match is None:
        allowed = "a number with s, m, h or d, such as 90m"
        raise FindingsError([refuse_option(option, quote(text), allowed=allowed)])
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def read_variables(assignments: list[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` pairs; a missing value or a duplicate name is UC6109, a credential UC2253."""
    variables: dict[str, str] = {}
    findings = []
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or name in variables:
            # Omit the value, which may be a secret.
            problem = f"duplicate {quote(name)}" if equals else f"got {quote(name)} without a value"
            findings.append(
                Finding(code=VARIABLE.code, problem=problem, allowed="NAME=VALUE, once", path="--env")
            )
        elif carried := variable_credential(name, value):
            findings.append(job_credential(carried, "--env"))
        variables[name] = value
    reject(findings)
    return variables


def read_resume(resume: int | None, *, no_resume: bool) -> int | None:
    """Return how often a job resumes by the options of a submission; both at once are UC6204."""
    if no_resume and resume:
        raise FindingsError(
            [refuse_option("--no-resume", f"it with --resume {resume}", remedy="Omit one of them")]
        )
    return 0 if no_resume else resume


def follow_log(
    job_id: str,
    *,
    client: Clients,
    show: Callable[[Sequence[Line]], None],
    node: int | None = None,
    tail: int | None = None,
) -> Mapping[str, Any]:
    """Show the log of a node, by default from its start, and say each state of the job until it ends; return the job."""
    status, stream, token = "", None, None
    while True:
        job = describe_job(job_id, client=client)
        if job["status"] != status:
            status = job["status"]
            waits = status not in (*ENDED, "RUNNING")
            hint = f". To see why it waits: ultracluster jobs why {job_id}" if waits else ""
            echo(f"{job['jobName']} is {status}{hint}")
        if stream or status in (*ENDED, "RUNNING"):
            try:
                log_stream = stream or find_stream(job_id, node=node, client=client)
                if stream is None and tail is not None:
                    lines, token = read_tail(log_stream, count=tail, client=client)
                    show(lines)
                for lines, following in read_new(log_stream, token=token, client=client):
                    token = following
                    show(lines)
                stream = log_stream
            except FindingsError as error:
                invalid = any(finding.allowed for finding in error.findings)  # there is no such node
                if stream or invalid or (tail is not None and status in ENDED):
                    raise  # else the node has not logged yet
        if status in ENDED:
            return job
        time.sleep(_FOLLOW_SECONDS)


def echo_resumes(resumes: int) -> None:
    """Say that a submitted job resumes by itself, and how that is declined."""
    if resumes:
        times = "once" if resumes == 1 else f"{resumes} times"
        echo(f"It resumes up to {times} after a drain or the loss of a node; to decline that: --no-resume")


def job_row(job: Any, reason: str | None = None) -> dict[str, Any]:
    """Return a job as a row of a table and of the JSON; with a reason that says more than AWS Batch's."""
    since = {"RUNNING": "startedAt", "SUCCEEDED": "stoppedAt", "FAILED": "stoppedAt"}.get(
        job["status"], "createdAt"
    )
    at = job.get(since) or job.get("createdAt")
    return {
        "job": job["jobId"],
        "name": job["jobName"],
        "state": job["status"],
        "nodes": node_count_of(job),
        "since": datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds") if at else None,
        "share": job.get("shareIdentifier"),
        "resumes": job.get("tags", {}).get(RESUME_OF_TAG),
        "left": job.get("tags", {}).get(RESUME_TAG),
        # Of a job that succeeded, AWS Batch reports that its container exited.
        "reason": reason or (None if job["status"] == "SUCCEEDED" else job.get("statusReason")) or None,
    }


def list_rows(
    queues: Sequence[Queue], *, states: Iterable[str], client: Clients
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the jobs of queues of one cluster in some states and those that wait for their resume, and what could not be read."""
    wanted = list(states)
    names = {queue.arn: queue.name for queue in queues}
    jobs = [(arn, job) for arn in names for job in list_jobs(arn, states=wanted, client=client)]
    reasons = short_reasons([job for _, job in jobs], client=client)
    rows = [{**job_row(job, reasons.get(job["jobId"])), "queue": names[arn]} for arn, job in jobs]
    shown = {row["job"]: row for row in rows}
    try:
        resumes = pending_resumes(list(names), client=client)
        open_arns = open_queues((resume.queue for resume in resumes), client=client)
        ended = [resume.job_id for resume in resumes if resume.job_id not in shown]
        known = {job["jobId"]: job_row(job) for job in describe_jobs(ended, client=client)}
    except AWS_ERRORS as error:
        return rows, [f"which jobs wait for their resume: {problem_of(error)}"]
    for resume in resumes:
        if (row := shown.get(resume.job_id)) is None:
            # AWS Batch deletes ended jobs after some days.
            forgotten = dict.fromkeys(_ROW) | {
                "job": resume.job_id,
                "name": resume.name,
                "nodes": resume.nodes,
            }
            row = known.get(resume.job_id, forgotten)
            rows.append(row)
        row |= {
            "state": PENDING,
            "left": str(resume.left),
            "reason": resume.waits_for(open_queue=resume.queue in open_arns),
            "queue": names[resume.queue],
        }
    return rows, []


def open_shell(node: str, *, region: str, profile: str | None, container_of: str | None = None) -> None:
    """Replace this process with a shell on a node, or in the container of a job there.

    ``container_of`` is the ARN of an ECS task.
    """
    if endpoint := os.environ.get("AWS_ENDPOINT_URL"):
        _open_local_shell(endpoint, container_of or node)
        return
    command = _command(node, region=region, profile=profile, container_of=container_of)
    if missing := [name for name in ("aws", "session-manager-plugin") if not shutil.which(name)]:
        remedy = (
            f"Install the AWS CLI and its Session Manager plugin, or run elsewhere: {shlex.join(command)}"
        )
        raise FindingsError.message(f"{' and '.join(missing)} not found on PATH", remedy=remedy)
    os.execvp(command[0], command)  # noqa: S606 - a shell for the user, without a shell in between


def _open_local_shell(endpoint: str, name: str) -> None:
    """Replace this process with a shell in the folder and with the variables of a process that the local AWS has started."""
    from ultracluster_local.errors import LocalAwsError  # noqa: PLC0415 - optional dependency
    from ultracluster_local.seeding.seed_client import shell_directory  # noqa: PLC0415 - likewise

    try:
        folder, environment = shell_directory(
            endpoint=endpoint, key=os.environ.get("AWS_ACCESS_KEY_ID", ""), name=name
        )
    except LocalAwsError as error:
        raise FindingsError.of(error.code, error.problem, remedy=error.remedy) from None
    shell = shutil.which("bash") or "sh"
    os.chdir(folder)
    variables = {**environment, "TERM": os.environ.get("TERM", "dumb")}
    os.execvpe(shell, [shell], variables)  # noqa: S606 - a shell for the user, without a shell in between


def _command(node: str, *, region: str, profile: str | None, container_of: str | None) -> list[str]:
    command = ["aws", "ssm", "start-session", "--target", node, "--region", region]
    if profile:
        command += ["--profile", profile]
    if container_of:
        # The ECS agent labels each container with the ARN of its task.
        ids = f"sudo docker ps --quiet --filter label=com.amazonaws.ecs.task-arn={container_of}"
        inside = f"sudo docker exec --interactive --tty $({ids} | head -1) sh -c 'command -v bash >/dev/null && exec bash || exec sh'"
        command += [
            "--document-name",
            "AWS-StartInteractiveCommand",
            "--parameters",
            json.dumps({"command": [inside]}, separators=(",", ":")),
        ]
    return command
