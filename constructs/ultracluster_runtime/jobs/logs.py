"""Read the log of one node of a job from Amazon CloudWatch Logs."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.describe import (
    ENDED,
    child_job_ids,
    describe_job,
    first_failed_child,
    is_array,
    last_container,
    short_reason,
)
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # ECMA-48, control sequences
_DEFAULT_GROUP = "/aws/batch/job"
_AWSLOGS = "awslogs"  # the default of AWS Batch, API_LogConfiguration
READ_ELSEWHERE: Final = "Read it there, or set the log driver awslogs in its definition"
"""What to do about a log that is not in Amazon CloudWatch Logs."""

_MOST_EVENTS = 10_000  # GetLogEvents, API Reference, read 2026-11


@dataclass(frozen=True, kw_only=True, slots=True)
class Stream:
    """Log stream of a node."""

    group: str
    name: str
    # What to do if it does not exist
    missing: str = field(default="Try again after the node has started", compare=False)
    region: str | None = None  # Region, if the job chooses one
    of: str = field(default="", compare=False)  # child of an array whose log it is, if the caller chose none


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """Log line."""

    timestamp: int  # time of the event in milliseconds since the epoch
    message: str

    @property
    def text(self) -> str:
        """The line as a terminal would show it in the end, without colours: of a progress bar its last state."""
        return _COLOURS.sub("", self.message).rstrip("\r").rpartition("\r")[2]

    @property
    def has_metrics(self) -> bool:
        """Whether the line is for CloudWatch, which reads metrics from it, and not for people."""
        return self.message.startswith('{"_aws"')


def find_stream(job_id: str, *, node: int | None, client: Clients) -> Stream:
    """Find the log stream of a node (UC6208); without an index that of the main node, or the only one."""
    job = describe_job(job_id, client=client)
    node_job = job
    chosen = ""
    if children := child_job_ids(job):
        index = job.get("nodeProperties", {}).get("mainNode", 0) if node is None else node
        if node is None and is_array(job):
            index, _ = first_failed_child(job, client)
            chosen = f"child {index} of {len(children)}"
        if not 0 <= index < len(children):
            kind = "child" if is_array(job) else "node"
            raise _no_log(f"the job has no {kind} {index}", allowed=f"0 to {len(children) - 1}")
        node_jobs = client("batch").describe_jobs(jobs=[children[index]])["jobs"]
        node_job = node_jobs[0] if node_jobs else {}
    elif node not in (None, 0):
        raise _no_log(f"the job has one node; got {node}", allowed="0")
    stream = stream_of(node_job)
    ended = job["status"] in ENDED
    why = f"ultracluster jobs why {job['jobId']}"
    if stream is None and (driver := log_driver_of(node_job)):
        raise _no_log(
            f"the log of the job goes to {driver}, not to Amazon CloudWatch Logs",
            remedy=READ_ELSEWHERE,
        )
    if stream is None:
        reason = short_reason(node_job) or short_reason(job)
        raise _no_log(
            f"the job is {job['status']}, and this node has not started{f' ({reason})' if ended and reason else ''}",
            remedy=f"To see why it {'ended' if ended else 'waits'}: {why}",
        )
    stream = replace(stream, of=chosen)
    return replace(stream, missing=f"It wrote no line. To see why it ended: {why}") if ended else stream


def stream_of(job: Mapping[str, Any]) -> Stream | None:
    """Return the log stream of a job on one node or of a node, that of its last attempt; None if it has not logged.

    Of several containers it is that of the first that failed, else of the first that is essential.
    """
    last, container = last_container(job), _defined_container(job)
    names = [container.get("logStreamName"), last.get("logStreamName")]
    names += [
        attempt.get("container", {}).get("logStreamName") for attempt in reversed(job.get("attempts", []))
    ]
    name = next(filter(None, names), None)
    if name is None or log_driver_of(job):
        return None
    options = container.get("logConfiguration", {}).get("options", {})
    return Stream(
        group=options.get("awslogs-group", _DEFAULT_GROUP), name=name, region=options.get("awslogs-region")
    )


def _defined_container(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the container with the settings of its log; of several, that of `last_container`, which has them."""
    return last_container(job) if "ecsProperties" in job else job.get("container", {})


def log_driver_of(job: Mapping[str, Any]) -> str:
    """Return the log driver of a job on one node or of a node; empty if it logs to Amazon CloudWatch Logs."""
    driver = str(_defined_container(job).get("logConfiguration", {}).get("logDriver", _AWSLOGS))
    return "" if driver == _AWSLOGS else driver


def read_tail(stream: Stream, *, count: int, client: Clients) -> tuple[list[Line], str | None]:
    """Return the newest lines, oldest first, and a token to continue with `read_new`."""
    response = _events(stream, client, limit=min(count, _MOST_EVENTS), startFromHead=False)
    return _lines(response), response.get("nextForwardToken")


def read_head(stream: Stream, *, count: int, client: Clients) -> list[Line]:
    """Return the oldest lines, oldest first."""
    return _lines(_events(stream, client, limit=min(count, _MOST_EVENTS), startFromHead=True))


def read_new(
    stream: Stream, *, token: str | None, client: Clients
) -> Iterator[tuple[list[Line], str | None]]:
    """Read new lines page by page, up to the newest."""
    while True:
        where = {"nextToken": token} if token else {}
        response = _events(stream, client, startFromHead=True, **where)
        following = response.get("nextForwardToken")
        yield _lines(response), following
        if following == token or not response["events"]:  # at the end, the token stays the same
            return
        token = following


def _events(stream: Stream, client: Clients, **where: Any) -> Any:
    try:
        logs = client("logs", stream.region) if stream.region else client("logs")
        return logs.get_log_events(logGroupName=stream.group, logStreamName=stream.name, **where)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
        raise _no_log(f"{stream.group} has no stream {stream.name}", remedy=stream.missing) from error


def _lines(response: Any) -> list[Line]:
    return [Line(timestamp=event["timestamp"], message=event["message"]) for event in response["events"]]


def _no_log(problem: str, *, allowed: str = "", remedy: str = "") -> FindingsError:
    return FindingsError.of("UC6208", problem, allowed=allowed, remedy=remedy)


RECORDS: Final = (
    RuleRecord(
        "UC6208",
        "A node whose log is read has started.",
        remedy="Nodes are numbered from 0; `ultracluster jobs why ID` explains why a job has not started.",
        source="AWS Batch user guide, multi-node parallel jobs, 2026-10.",
    ),
)
