"""Read the observations of a block's life cycle from AWS. All calls are read-only."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_catalog.limits.budgets import CLOSED_BY_BUDGET_TAG
from ultracluster_catalog.names.cluster_tag import RESERVATION_TAG
from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_catalog.names.submission_tags import ARRAY_NODES_VARIABLE, RESUME_TAG
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, UNREADABLE
from ultracluster_runtime.lifecycle.observations import (
    ACTIVE,
    BOOT_TIME,
    SHUT_DOWN_FROM_INSIDE,
    Environment,
    Fleet,
    Job,
    Observations,
    Queue,
    Refusal,
    Reservation,
    Sickness,
    Stray,
)
from ultracluster_runtime.lifecycle.sick import read_sick_nodes

_JOBS_PER_CALL = 100  # DescribeJobs and DescribeJobDefinitions, API Reference, read 2026-11
_CONTAINER_INSTANCES_PER_CALL = 100  # DescribeContainerInstances, API Reference, read 2026-11
_STARTED = ("STARTING", "RUNNING")
_ALIVE = ["pending", "running", "stopping", "shutting-down"]
ENDING = ["stopping", "stopped", "shutting-down", "terminated"]

_REFUSED = re.compile(r"ultracluster: refused to join the cluster: ([^\r\n]+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagedBlock:
    """Block to manage and the resources around it."""

    reservation_id: str
    compute_environment: str
    job_queue: str  # ARN of the job queue in front of it
    topic: str  # ARN of the SNS topic for notices
    # Name of the DynamoDB table that stores the state, with the reservation as the ID of the item
    state_table: str
    checkpoint_lead: timedelta  # time between the checkpoint request and the drain
    additional_job_queues: tuple[str, ...] = ()  # ARNs of other queues whose jobs can run in the environment
    # Number of nodes that refuse in a row before the environment is closed, or in an hour before the Auto
    # Scaling group replaces none
    max_refusals: int = 3
    # Name of the Auto Scaling group that starts the nodes. Default: AWS Batch starts them.
    auto_scaling_group: str = ""
    metrics_log_group: str = ""  # name of the log group of its nodes' metrics. Default: they publish none.
    replaces_sick: bool = False  # whether sick nodes are replaced without a person
    # Whether the cluster now launches into another block: then only jobs that still run in this one are
    # managed, and environment and queue belong to the other
    former: bool = False


def try_read(read: Callable[[], Any], errors: list[Exception]) -> Any:
    """Return the result of a read; on failure, record the error and return None."""
    try:
        return read()
    except AWS_ERRORS as error:
        errors.append(error)
        return None


def observe(block: ManagedBlock, clients: Clients, now: datetime, errors: list[Exception]) -> Observations:
    """Read all observations. What could not be read is None in the result, and its error is added to `errors`.

    An error of the reservation is raised: nothing can be planned without it.
    """
    try:
        reservation = _reservation(clients, block.reservation_id)
    except UNREADABLE as error:
        # Asked again, because nothing else can be done without it. botocore repeats requests that got no response at all.
        errors.append(error)
        reservation = _reservation(clients, block.reservation_id)
    launched = jobs = extension_pending = None
    refusals: tuple[Refusal, ...] | None = ()
    strays: tuple[Stray, ...] = ()
    waiting: str | None = None
    sick: Mapping[str, Sickness] = {}
    resumed: frozenset[str] = frozenset()
    # Only an active block has nodes. For a reservation that EC2 has forgotten, it refuses to list extensions.
    if reservation is not None and reservation.state == ACTIVE:
        launched = try_read(lambda: _nodes(clients, block.reservation_id), errors)
        end = reservation.end
        extension_pending = try_read(lambda: _extension_pending(clients, block.reservation_id, end), errors)
        queues = (block.job_queue, *block.additional_job_queues)
        jobs = try_read(lambda: _jobs(clients, queues), errors)
        if not block.former:
            tagged = try_read(lambda: _tagged(clients, block.reservation_id), errors)
            refusals = None if tagged is None else _refusals(clients, tagged)
            strays = _strays(tagged or (), block.reservation_id)
            if launched == {}:
                waiting = try_read(lambda: _waiting(clients, queues), errors)
            sick = try_read(lambda: _sick(clients, block, now, launched or {}), errors) or {}
            affected = sorted(job.job_id for job in jobs or () if job.nodes & sick.keys())
            if affected and block.replaces_sick:
                resumed = try_read(lambda: _resumed(clients, affected), errors) or resumed
    return Observations(
        now=now,
        reservation_id=block.reservation_id,
        checkpoint_lead=block.checkpoint_lead,
        reservation=reservation,
        environment=None
        if block.former
        else try_read(lambda: _environment_state(clients, block.compute_environment), errors),
        queue=None if block.former else try_read(lambda: _queue(clients, block, now, errors), errors),
        nodes=None if launched is None else frozenset(launched),
        jobs=jobs,
        extension_pending=extension_pending,
        launched=launched or {},
        refusals=refusals,
        max_refusals=block.max_refusals,
        has_fleet=bool(block.auto_scaling_group),
        strays=strays,
        waiting=waiting,
        sick=sick,
        replaces_sick=block.replaces_sick,
        resumed=resumed,
        fleet=try_read(lambda: _fleet(clients, block.auto_scaling_group), errors)
        if block.auto_scaling_group and not block.former
        else None,
    )


def describe_reservation(ec2: Any, reservation_id: str) -> Mapping[str, Any] | None:
    """Return a reservation as EC2 describes it; None if EC2 does not know it, or has forgotten it after its end."""
    pages = ec2.get_paginator("describe_capacity_reservations").paginate(
        CapacityReservationIds=[reservation_id]
    )
    try:
        (reservation,) = (found for page in pages for found in page["CapacityReservations"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "InvalidCapacityReservationId.NotFound":
            return None
        raise
    return dict(reservation)


def _reservation(clients: Clients, reservation_id: str) -> Reservation | None:
    description = describe_reservation(clients("ec2"), reservation_id)
    return None if description is None else Reservation.from_description(description)


def template_data(ec2: Any, template: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the data of a launch template that AWS Batch names."""
    # Auto Scaling answers with both, and EC2 takes one of them.
    key = next(key for key in ("launchTemplateId", "launchTemplateName") if template.get(key))
    versions = ec2.describe_launch_template_versions(
        **{key[0].upper() + key[1:]: template[key]},
        Versions=[template.get("version") or "$Default"],
    )["LaunchTemplateVersions"]
    data: Mapping[str, Any] = versions[0]["LaunchTemplateData"] if versions else {}
    return data


def targeted_reservation(ec2: Any, resources: Mapping[str, Any]) -> str | None:
    """Return the ID of the reservation that the launch template of compute resources targets, if any."""
    template = resources.get("launchTemplate")
    # Unmanaged environments come with the data of their template.
    data = resources.get("templateData") or (template_data(ec2, template) if template else {})
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    reservation_id: str | None = target.get("CapacityReservationId")
    return reservation_id


def _fleet(clients: Clients, name: str) -> Fleet:
    (group,) = clients("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])[
        "AutoScalingGroups"
    ]
    protected: dict[bool, set[str]] = {True: set(), False: set()}
    for instance in group.get("Instances", []):
        if instance["LifecycleState"] == "InService":
            protected[instance["ProtectedFromScaleIn"]].add(instance["InstanceId"])
    return Fleet(
        desired=group["DesiredCapacity"],
        most=group["MaxSize"],
        protected=frozenset(protected[True]),
        exposed=frozenset(protected[False]),
    )


def _environment(clients: Clients, arn: str) -> dict[str, Any]:
    response = clients("batch").describe_compute_environments(computeEnvironments=[arn])
    environment: dict[str, Any] = response["computeEnvironments"][0]
    return environment


def host_of(clients: Clients, environment: str, node: str) -> tuple[str, str | None]:
    """Return the ECS cluster of a compute environment, and the container instance of a node that takes jobs in it, if any."""
    cluster = _environment(clients, environment)["ecsClusterArn"]
    pages = clients("ecs").get_paginator("list_container_instances").paginate(cluster=cluster)
    hosts = [host for page in pages for host in page["containerInstanceArns"]]
    found = [
        host["containerInstanceArn"]
        for chunk in chunks(hosts, _CONTAINER_INSTANCES_PER_CALL)
        for host in clients("ecs").describe_container_instances(cluster=cluster, containerInstances=chunk)[
            "containerInstances"
        ]
        if host["ec2InstanceId"] == node and host["status"] == "ACTIVE"
    ]
    return cluster, next(iter(found), None)


def _environment_state(clients: Clients, arn: str) -> Environment:
    description = _environment(clients, arn)
    return Environment(
        enabled=description["state"] == "ENABLED",
        status=description.get("status", "VALID"),
        reason=description.get("statusReason", ""),
    )


def _queue(clients: Clients, block: ManagedBlock, now: datetime, errors: list[Exception]) -> Queue:
    description = clients("batch").describe_job_queues(jobQueues=[block.job_queue])["jobQueues"][0]
    other_arns = [
        entry["computeEnvironment"]
        for entry in description["computeEnvironmentOrder"]
        if entry["computeEnvironment"] != block.compute_environment
    ]
    others_serve = try_read(lambda: any(_serves(clients, arn, now) for arn in other_arns), errors)
    return Queue(
        enabled=description["state"] == "ENABLED",
        others_serve=others_serve,
        closed_by_budget=CLOSED_BY_BUDGET_TAG in description.get("tags", {}),
        status=description.get("status", "VALID"),
    )


def _serves(clients: Clients, arn: str, now: datetime) -> bool:
    """Return whether an environment runs jobs now, or will when the block that it launches into starts."""
    environment = _environment(clients, arn)
    if environment["state"] == "ENABLED":
        return bool(environment["status"] != "INVALID")
    reservation_id = targeted_reservation(clients("ec2"), environment.get("computeResources", {}))
    reservation = _reservation(clients, reservation_id) if reservation_id else None
    return reservation is not None and reservation.serves(now)


def _extension_pending(clients: Clients, reservation_id: str, end: datetime | None) -> bool:
    """Return whether an extension may still move the end: all but those that failed or that the end includes."""
    pages = (
        clients("ec2")
        .get_paginator("describe_capacity_block_extension_history")
        .paginate(CapacityReservationIds=[reservation_id])
    )
    return any(
        extension["CapacityBlockExtensionStatus"] != "payment-succeeded"
        or end is None
        or extension["CapacityBlockExtensionEndDate"] > end
        for page in pages
        for extension in page["CapacityBlockExtensions"]
        if extension["CapacityBlockExtensionStatus"] != "payment-failed"
    )


def _nodes(clients: Clients, reservation_id: str) -> Mapping[str, datetime]:
    return {
        instance["InstanceId"]: instance["LaunchTime"]
        for instance in find_instances(clients("ec2"), "capacity-reservation-id", [reservation_id], _ALIVE)
        # The filter of the request is repeated here, because jobs on these instances may be terminated.
        if instance.get("CapacityReservationId") == reservation_id
    }


def _tagged(clients: Clients, reservation_id: str) -> tuple[dict[str, Any], ...]:
    """Return the instances that were launched for a reservation.

    They are found by tag: EC2 does not document that an instance that has ended still names its reservation, and one that runs
    may be in another one.
    """
    states = ["running", *ENDING]
    return tuple(find_instances(clients("ec2"), f"tag:{RESERVATION_TAG}", [reservation_id], states))


def _strays(instances: Iterable[Mapping[str, Any]], reservation_id: str) -> tuple[Stray, ...]:
    return tuple(
        Stray(node=instance["InstanceId"], reservation_id=instance.get("CapacityReservationId"))
        for instance in instances
        if instance["State"]["Name"] == "running" and instance.get("CapacityReservationId") != reservation_id
    )


def _waiting(clients: Clients, queues: Iterable[str]) -> str | None:
    """Return the ID of a job of some queues that waits for a node."""
    for queue in queues:
        for job in list_jobs(clients("batch"), ["RUNNABLE", "PENDING"], jobQueue=queue):
            if job["status"] == "RUNNABLE":
                return str(job["jobId"])
            if "arrayProperties" in job and next(
                list_jobs(clients("batch"), ["RUNNABLE"], arrayJobId=job["jobId"]), None
            ):
                return str(job["jobId"])
    return None


def _sick(
    clients: Clients, block: ManagedBlock, now: datetime, launched: Mapping[str, datetime]
) -> Mapping[str, Sickness]:
    """Return the sick nodes of a block; while they boot, drivers have not made all devices."""
    if not block.metrics_log_group:
        return {}
    found = read_sick_nodes(clients("logs"), block.metrics_log_group, now)
    return {
        node: sickness
        for node, sickness in found.items()
        if node in launched and now - launched[node] >= BOOT_TIME
    }


def _resumed(clients: Clients, job_ids: Sequence[str]) -> frozenset[str]:
    """Return the jobs that are submitted again when they lose a node."""
    jobs = describe_jobs(clients("batch"), job_ids)
    names = sorted({job["jobDefinition"] for job in jobs})
    definitions = {
        definition["jobDefinitionArn"]: definition
        for chunk in chunks(names, _JOBS_PER_CALL)
        for definition in clients("batch").describe_job_definitions(jobDefinitions=chunk)["jobDefinitions"]
    }
    return frozenset(
        job["jobId"] for job in jobs if resumes_left(job, definitions.get(job["jobDefinition"], {})) > 0
    )


def resumes_left(job: Mapping[str, Any], definition: Mapping[str, Any]) -> int:
    """Return how often a job may still be resubmitted."""
    text = job.get("tags", {}).get(RESUME_TAG, definition.get("tags", {}).get(RESUME_TAG, "0"))
    return int(text) if str(text).isdecimal() else 0


def _refusals(clients: Clients, instances: Iterable[Mapping[str, Any]]) -> tuple[Refusal, ...]:
    return tuple(
        Refusal(
            node=instance["InstanceId"],
            launched=instance["LaunchTime"],
            reason=_refusal_reason(clients, instance["InstanceId"]),
        )
        for instance in instances
        if instance["State"]["Name"] in ENDING
        and instance.get("StateReason", {}).get("Code") == SHUT_DOWN_FROM_INSIDE
    )


def _refusal_reason(clients: Clients, node: str) -> str | None:
    """Return the reason from the console output, which EC2 keeps for an hour after the node ends."""
    try:
        console = clients("ec2").get_console_output(InstanceId=node).get("Output", "")
    except AWS_ERRORS:
        return None  # the refusal is reported without its reason
    reasons = _REFUSED.findall(console)
    return str(reasons[-1]).strip() if reasons else None


def find_instances(
    ec2: Any, name: str, values: Sequence[str], states: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the instances in some states with one of the values of a filter of DescribeInstances."""
    filters = {name: values, "instance-state-name": states}
    pages = ec2.get_paginator("describe_instances").paginate(
        Filters=[{"Name": name, "Values": list(values)} for name, values in filters.items()]
    )
    return (
        instance
        for page in pages
        for reservation in page["Reservations"]
        for instance in reservation["Instances"]
    )


def _jobs(clients: Clients, queues: Iterable[str]) -> tuple[Job, ...]:
    """Return the started jobs of some queues with the instances that they run on."""
    hosts: dict[str, set[str]] = {}
    children: dict[str, tuple[str, ...]] = {}
    started = [job for queue in queues for job in _listed(clients, queue)]
    details = describe_jobs(clients("batch"), started)
    # The containers of a multi-node job belong to its child jobs, whose IDs are its own with the index of the node.
    parts = [
        f"{detail['jobId']}#{index}"
        for detail in details
        for index in range(detail.get("nodeProperties", {}).get("numNodes", 0))
    ]
    for detail in (*details, *describe_jobs(clients("batch"), parts)):
        if detail["status"] in _STARTED:
            job = detail["jobId"].partition("#")[0]
            if size := array_nodes(detail):
                job = job.partition(":")[0]
                children[job] = tuple(f"{job}:{index}" for index in range(size))
            hosts[job] = hosts.get(job, set()) | container_instances(detail)
    # Each environment has an ECS cluster; that of a former block may be of one that AWS Batch is deleting.
    instances = instances_of_hosts(
        clients("ecs"), (host for job_hosts in hosts.values() for host in job_hosts)
    )
    return tuple(
        Job(
            job_id=job,
            nodes=frozenset(instances[host] for host in job_hosts if host in instances),
            children=children.get(job, ()),
        )
        for job, job_hosts in hosts.items()
    )


def _listed(clients: Clients, queue: str) -> list[str]:
    """Return the IDs of started jobs, of array jobs those of their started children.

    A queue lists an array, not its children, and as PENDING until all of them have ended (AWS Batch User Guide, array_jobs,
    read 2026-11).
    """
    jobs = list(list_jobs(clients("batch"), (*_STARTED, "PENDING"), jobQueue=queue))
    started = [job for job in jobs if "arrayProperties" not in job and job["status"] in _STARTED]
    for array in (job["jobId"] for job in jobs if "arrayProperties" in job):
        started += list_jobs(clients("batch"), _STARTED, arrayJobId=array)
    return [job["jobId"] for job in started]


def list_jobs(batch: Any, statuses: Iterable[str], **where: Any) -> Iterator[dict[str, Any]]:
    """Yield the summaries of the jobs of a queue or array in some statuses."""
    return (
        {**summary, "status": status}
        for status in statuses
        for page in batch.get_paginator("list_jobs").paginate(**where, jobStatus=status)
        for summary in page["jobSummaryList"]
    )


def array_nodes(job: Mapping[str, Any]) -> int:
    """Return the number of children of an array whose children are the nodes of one job, or 0; also for one of them."""
    variables = {
        entry["name"]: entry.get("value", "") for entry in job.get("container", {}).get("environment", [])
    }
    size = variables.get(ARRAY_NODES_VARIABLE, "")
    return int(size) if size.isdecimal() else 0


def containers_of_task(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the containers of a job on one node, or of a node, as they are defined; several by `ecsProperties`."""
    tasks = job.get("ecsProperties", {}).get("taskProperties", [])
    return [container for task in tasks for container in task.get("containers", [])] or [
        job.get("container", {})
    ]


def node_ranges(job: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the ranges of nodes of a multi-node job, each with its container; none for other jobs."""
    return list(job.get("nodeProperties", {}).get("nodeRangeProperties", []))


def has_launcher(job: Mapping[str, Any]) -> bool:
    """Return whether our launcher starts the program of a job."""
    containers = [container for part in [job, *node_ranges(job)] for container in containers_of_task(part)]
    return any(LAUNCHER_PATH in container.get("command", []) for container in containers)


def describe_jobs(batch: Any, job_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return jobs as AWS Batch describes them, without those that it does not know."""
    return [
        job for chunk in chunks(job_ids, _JOBS_PER_CALL) for job in batch.describe_jobs(jobs=chunk)["jobs"]
    ]


def instances_of_hosts(ecs: Any, hosts: Iterable[str]) -> dict[str, str]:
    """Return the instance IDs of container instances by their ARN: …:container-instance/CLUSTER/ID."""
    return {
        host["containerInstanceArn"]: host["ec2InstanceId"]
        for cluster, in_cluster in groupby(sorted(set(hosts)), key=lambda arn: arn.split("/")[-2])
        for chunk in chunks(list(in_cluster), _CONTAINER_INSTANCES_PER_CALL)
        for host in ecs.describe_container_instances(cluster=cluster, containerInstances=chunk)[
            "containerInstances"
        ]
    }


def container_instances(detail: Mapping[str, Any]) -> set[str]:
    """Return the ARNs of the container instances of a job or a node of one."""
    tasks = detail.get("ecsProperties", {}).get("taskProperties", [])
    named = (part.get("containerInstanceArn") for part in (detail.get("container", {}), *tasks))
    return {arn for arn in named if arn}


def chunks(values: Sequence[str], size: int) -> Iterable[list[str]]:
    """Split a sequence into lists of at most `size` items."""
    return (list(values[start : start + size]) for start in range(0, len(values), size))
