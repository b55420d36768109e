"""Follow a job to its end."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from ultracluster_rules.findings import FindingsError
from ultracluster_runtime.jobs.describe import describe_job
from ultracluster_runtime.jobs.logs import Line, find_stream, read_new
from ultracluster_runtime.jobs.queues import Client

_ENDED = ("SUCCEEDED", "FAILED")


def follow_job(
    job_id: str,
    *,
    client: Client,
    node: int | None,
    token: str | None = None,
    show: Callable[[Sequence[Line]], None],
    report: Callable[[str], None],
    seconds: float,
) -> Any:
    """Show the log of a node until the job has ended, and return the job.

    Args:
        job_id: ID of the job.
        client: Returns boto3 clients.
        node: Index of the node. None for the main node.
        token: Token to continue from. Default: the start of the log.
        show: Called with new lines.
        report: Called with the state of the job when it changes.
        seconds: Seconds between looks.
    """
    status, stream = "", None
    while True:
        job = describe_job(job_id, client=client)
        if job["status"] != status:
            status = job["status"]
            report(f"{job['jobName']} is {status}")
        if stream is None and status in (*_ENDED, "RUNNING"):
            try:
                stream = find_stream(job_id, node=node, client=client)
                for lines, following in read_new(stream, token=token, client=client):
                    show(lines)
                    token = following
            except FindingsError:  # the node has not logged yet
                stream = None
        elif stream is not None:
            for lines, following in read_new(stream, token=token, client=client):
                show(lines)
                token = following
        if status in _ENDED:
            return job
        time.sleep(seconds)
