"""Stop a job: request a checkpoint, wait for it, then terminate the job with a reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.jobs.describe import child_job_ids, describe_job, node_count_of
from ultracluster_runtime.jobs.queues import Client
from ultracluster_runtime.lifecycle.driver import CHECKPOINT_FILE
from ultracluster_runtime.lifecycle.reader import chunks, gang_size

_TERMINAL_STATES: Final = frozenset({"SUCCEEDED", "FAILED"})
_POLL_SECONDS: Final = 15
_NODES_PER_COMMAND: Final = 50  # SendCommand, botocore 1.44.5
_PER_CALL: Final = 100  # DescribeJobs and DescribeContainerInstances, API Reference, read 2026-11
_SECONDS_TO_DELIVER: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class StopResult:
    """Result of stopping a job.

    Attributes:
        job_id: ID of the job.
        status_before: State before it was stopped.
        notified_nodes: Nodes that got the checkpoint request.
        terminated: Whether it was terminated. False if it had ended before.
        problem: Why not all nodes got the request. None if they did, or did not need to.
    """

    job_id: str
    status_before: str
    notified_nodes: tuple[str, ...]
    terminated: bool
    problem: str | None


def stop_job(
    job_id: str,
    *,
    reason: str,
    wait: timedelta,
    client: Client,
    clock: Callable[[], datetime],
    sleep: Callable[[float], None],
) -> StopResult:
    """Stop a job.

    Args:
        job_id: ID or ARN of the job.
        reason: Status reason to set in AWS Batch.
        wait: Time for a checkpoint. Zero terminates the job at once, without a checkpoint request.
        client: Returns boto3 clients.
        clock: Returns the current time, timezone-aware.
        sleep: Sleeps, in seconds.

    Raises:
        FindingsError: UC6205 if AWS Batch does not know the job.
    """
    job = describe_job(job_id, client=client)
    status, resolved_id = job["status"], job["jobId"]
    if status in _TERMINAL_STATES:
        return StopResult(
            job_id=resolved_id, status_before=status, notified_nodes=(), terminated=False, problem=None
        )
    notified: tuple[str, ...] = ()
    problem = None
    if status == "RUNNING" and wait > timedelta(0):
        until = clock() + wait
        notified, problem = request_checkpoint(job, until, client)
        while notified and clock() < until:
            sleep(min(_POLL_SECONDS, max(0.0, (until - clock()).total_seconds())))
            if describe_job(resolved_id, client=client)["status"] in _TERMINAL_STATES:
                return StopResult(
                    job_id=resolved_id,
                    status_before=status,
                    notified_nodes=notified,
                    terminated=False,
                    problem=problem,
                )
    client("batch").terminate_job(jobId=resolved_id, reason=reason)
    return StopResult(
        job_id=resolved_id, status_before=status, notified_nodes=notified, terminated=True, problem=problem
    )


def checkpoint_commands(until: datetime) -> list[str]:
    """Return the shell commands that request a checkpoint from the jobs on a node.

    Args:
        until: Time at which the job is terminated; the launcher ignores requests whose time has passed.
    """
    folder = CHECKPOINT_FILE.rpartition("/")[0]
    return [
        f"mkdir -p {folder}",
        # Rename so that no reader sees a partial file. The life cycle of the block uses another temporary name.
        f"echo '{until:%Y-%m-%dT%H:%M:%SZ}' >{CHECKPOINT_FILE}.stop",
        f"mv {CHECKPOINT_FILE}.stop {CHECKPOINT_FILE}",
    ]


def request_checkpoint(
    job: Mapping[str, Any], until: datetime, client: Client
) -> tuple[tuple[str, ...], str | None]:
    """Request a checkpoint from a running multi-node job.

    Args:
        job: Job as AWS Batch describes it.
        until: Time at which the request expires.
        client: Returns boto3 clients.

    Returns:
        The nodes that got the request, and why not all did. None if they did.
    """
    if "nodeProperties" not in job and not gang_size(job):
        return (
            (),
            "only a multi-node job has its nodes to itself; the request would reach other jobs on the node",
        )
    notified: list[str] = []
    try:
        nodes = sorted(instances_of(job, client).values())
        for chunk in chunks(nodes, _NODES_PER_COMMAND):
            client("ssm").send_command(
                InstanceIds=chunk,
                DocumentName="AWS-RunShellScript",
                Comment="Request a checkpoint from a job",
                TimeoutSeconds=_SECONDS_TO_DELIVER,
                Parameters={"commands": checkpoint_commands(until)},
            )
            notified += chunk
    except AWS_ERRORS as error:
        return tuple(notified), str(error)
    if len(nodes) < node_count_of(job):
        return tuple(notified), f"AWS reports {len(nodes)} of its {node_count_of(job)} nodes"
    return tuple(notified), None


def instances_of(job: Mapping[str, Any], client: Client) -> dict[str, str]:
    """Return the instance IDs of a running job by the ARN of its ECS task on each, in the order of its nodes.

    Args:
        job: Job as AWS Batch describes it.
        client: Returns boto3 clients.
    """
    batch, ecs = client("batch"), client("ecs")
    names = child_job_ids(job)
    parts = [part for chunk in chunks(names, _PER_CALL) for part in batch.describe_jobs(jobs=chunk)["jobs"]]
    hosts = {
        container.get("taskArn", part["jobId"]): container["containerInstanceArn"]
        for part in parts or [job]
        if (container := part.get("container", {})).get("containerInstanceArn")
    }
    by_cluster: dict[str, list[str]] = {}
    for host in sorted(set(hosts.values())):  # arn:aws:ecs:REGION:ACCOUNT:container-instance/CLUSTER/ID
        by_cluster.setdefault(host.split("/")[1], []).append(host)
    ids = {
        instance["containerInstanceArn"]: instance["ec2InstanceId"]
        for cluster, host_arns in by_cluster.items()
        for chunk in chunks(host_arns, _PER_CALL)
        for instance in ecs.describe_container_instances(cluster=cluster, containerInstances=chunk)[
            "containerInstances"
        ]
    }
    return {task: ids[host] for task, host in hosts.items() if host in ids}
