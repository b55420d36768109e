"""Stop a job: request a checkpoint, wait for it, then terminate the job with a reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.jobs.describe import (
    ENDED,
    child_job_ids,
    describe_job,
    node_count_of,
)
from ultracluster_runtime.lifecycle.driver import NODES_PER_COMMAND, send_checkpoint_request
from ultracluster_runtime.lifecycle.reader import (
    array_nodes,
    chunks,
    describe_jobs,
    has_launcher,
    instances_of_hosts,
)

_POLL_SECONDS: Final = 15


@dataclass(frozen=True, kw_only=True, slots=True)
class StopResult:
    """Result of stopping a job."""

    job_id: str
    status_before: str
    notified_nodes: tuple[str, ...]
    terminated: bool  # whether it was terminated. False if it had ended before
    problem: str | None  # why not all nodes got the request; None if they did, or did not need to


def stop_job(
    job_id: str,
    *,
    reason: str,
    wait: timedelta,
    client: Clients,
    clock: Callable[[], datetime],
    sleep: Callable[[float], None],
) -> StopResult:
    """Stop a job; a `wait` of zero terminates it at once, without a checkpoint request."""
    job = describe_job(job_id, client=client)
    status, resolved_id = job["status"], job["jobId"]
    result = partial(StopResult, job_id=resolved_id, status_before=status)
    if status in ENDED:
        return result(notified_nodes=(), terminated=False, problem=None)
    notified: tuple[str, ...] = ()
    problem = None
    if status == "RUNNING" and wait > timedelta(0):
        until = clock() + wait
        notified, problem = request_checkpoint(job, until, client)
        while notified and clock() < until:
            sleep(min(_POLL_SECONDS, max(0.0, (until - clock()).total_seconds())))
            if describe_job(resolved_id, client=client)["status"] in ENDED:
                return result(notified_nodes=notified, terminated=False, problem=problem)
    client("batch").terminate_job(jobId=resolved_id, reason=reason)
    return result(notified_nodes=notified, terminated=True, problem=problem)


def request_checkpoint(
    job: Mapping[str, Any], until: datetime, client: Clients
) -> tuple[tuple[str, ...], str | None]:
    """Request a checkpoint from a running multi-node job with our launcher until a time.

    Return the nodes that got the request, and why not all did; None if they did.
    """
    if "nodeProperties" not in job and not array_nodes(job):
        return (
            (),
            "only a multi-node job has its nodes to itself; the request would reach other jobs on the node",
        )
    if not has_launcher(job):
        return (
            (),
            "its command does not start with our launcher, so nothing passes the request on to its program",
        )
    notified: list[str] = []
    try:
        nodes = sorted(instances_of(job, client).values())
        for chunk in chunks(nodes, NODES_PER_COMMAND):
            send_checkpoint_request(client("ssm"), chunk, until, sender="stop")
            notified += chunk
    except AWS_ERRORS as error:
        return tuple(notified), str(error)
    if len(nodes) < node_count_of(job):
        return tuple(notified), f"AWS reports {len(nodes)} of its {node_count_of(job)} nodes"
    return tuple(notified), None


def instances_of(job: Mapping[str, Any], client: Clients) -> dict[str, str]:
    """Return the instance IDs of a running job by the ARN of its ECS task on each, in the order of its nodes."""
    parts: Sequence[Mapping[str, Any]] = describe_jobs(client("batch"), child_job_ids(job))
    hosts = {
        container.get("taskArn", part["jobId"]): container["containerInstanceArn"]
        for part in parts or [job]
        if (container := part.get("container", {})).get("containerInstanceArn")
    }
    ids = instances_of_hosts(client("ecs"), hosts.values())
    return {task: ids[host] for task, host in hosts.items() if host in ids}
