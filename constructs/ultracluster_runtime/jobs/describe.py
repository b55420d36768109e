"""Describe a job and everything it may wait for. All calls are read-only."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeVar

from ultracluster_catalog.limits.queues import ENVIRONMENT_TAG
from ultracluster_catalog.limits.quotas import on_demand_quota
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.jobs.diagnose import (
    Capacity,
    Consumable,
    Environment,
    Job,
    PendingJob,
    QueuedJob,
    Quota,
)
from ultracluster_runtime.jobs.faults import exit_code
from ultracluster_runtime.jobs.queues import region_from_arn
from ultracluster_runtime.lifecycle import reader
from ultracluster_runtime.lifecycle.observations import Reservation
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.record import RuleRecord

STATES: Final = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
"""States of a job, in order."""

_JOB_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:[:#][0-9]+)?")
_LIST_JOBS: Final = "AWS Batch deletes ended jobs after some days; `ultracluster queue --all` lists the IDs"
# Status reasons that AWS Batch gives whatever the cause (AWS Batch User Guide, job_retries, read 2026-11).
_GENERAL: Final = ("Essential container in task exited", "Task failed to start", "Array Child Job failed")
ENDED: Final = frozenset({"SUCCEEDED", "FAILED"})
_Result = TypeVar("_Result")


def describe_job(job_id: str, *, client: Clients) -> Mapping[str, Any]:
    """Return a job that AWS Batch knows (UC6205) as it describes it."""
    jobs = client("batch").describe_jobs(jobs=[job_id.rpartition("/")[2]])["jobs"]
    if not jobs:
        raise FindingsError.of("UC6205", _no_job(job_id), remedy=_LIST_JOBS)
    return _with_state_of_children(jobs[0])


def _with_state_of_children(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an array job in the state of its children instead of PENDING, in which AWS Batch keeps it until all have ended.

    If the children of an array are the nodes of one job, it waits as long as one of them does.
    """
    order = ("RUNNABLE", "STARTING", "RUNNING")
    children = job.get("arrayProperties", {}).get("statusSummary", {})
    states = [
        state for state in (order if reader.array_nodes(job) else reversed(order)) if children.get(state)
    ]
    return {**job, "status": states[0]} if states and job.get("status") == "PENDING" else job


def find_job(text: str, *, client: Clients) -> str:
    """Return the ID of a job that is given by its ID, its ARN, its name or the start of its ID.

    Of several jobs of one name it is the last that was created, and an active one before one that has ended; otherwise
    exactly one must match (UC6205).
    """
    if region_from_arn(text) or _JOB_ID.fullmatch(text):
        return text
    batch = client("batch")
    queues = [
        queue["jobQueueArn"]
        for page in batch.get_paginator("describe_job_queues").paginate()
        for queue in page["jobQueues"]
    ]
    named = [
        job
        for queue in queues
        for page in batch.get_paginator("list_jobs").paginate(
            jobQueue=queue, filters=[{"name": "JOB_NAME", "values": [text]}]
        )
        for job in page["jobSummaryList"]
    ]
    if named:
        last = max(named, key=lambda job: (job.get("status") not in ENDED, job.get("createdAt", 0)))
        return str(last["jobId"])
    matching = dict.fromkeys(
        str(job["jobId"])
        for queue in queues
        for job in reader.list_jobs(batch, STATES, jobQueue=queue)
        if str(job["jobId"]).startswith(text)
    )
    if len(matching) == 1:
        return next(iter(matching))
    problem = f"{len(matching)} jobs match {quote(text)}" if matching else _no_job(text)
    raise FindingsError.of("UC6205", problem, allowed=", ".join(list(matching)[:10]), remedy=_LIST_JOBS)


def _no_job(text: str) -> str:
    return f"AWS Batch has no job {quote(text)} in this Region"


def describe_jobs(job_ids: Sequence[str], *, client: Clients) -> list[Mapping[str, Any]]:
    """Return several jobs in the order of their IDs, without those that AWS Batch does not know."""
    jobs_by_id = {
        job["jobId"]: _with_state_of_children(job) for job in reader.describe_jobs(client("batch"), job_ids)
    }
    return [jobs_by_id[job_id] for job_id in job_ids if job_id in jobs_by_id]


def list_jobs(queue: str, *, states: Iterable[str], client: Clients) -> list[Mapping[str, Any]]:
    """Return the jobs of a queue in some states, oldest first."""
    wanted = list(states)
    # Arrays are PENDING while their children run.
    asked = wanted if {"PENDING", *ENDED}.issuperset(wanted) else dict.fromkeys([*wanted, "PENDING"])
    job_ids = [job["jobId"] for job in reader.list_jobs(client("batch"), asked, jobQueue=queue)]
    # A job that changes its state between two calls is listed twice.
    details = describe_jobs(list(dict.fromkeys(job_ids)), client=client)
    found = (job for job in details if job.get("status") in wanted)
    return sorted(found, key=lambda job: int(job.get("createdAt", 0)))


def node_count_of(job: Mapping[str, Any]) -> int:
    """Return the number of nodes of a job."""
    return (
        int(job.get("nodeProperties", {}).get("numNodes", 1))
        if "nodeProperties" in job
        else reader.array_nodes(job) or 1
    )


def child_job_ids(job: Mapping[str, Any]) -> list[str]:
    """Return the IDs by which AWS Batch describes the nodes of a multi-node job, or the children of an array; else none."""
    if "nodeProperties" in job:
        return [f"{job['jobId']}#{index}" for index in range(node_count_of(job))]
    return [f"{job['jobId']}:{index}" for index in range(job.get("arrayProperties", {}).get("size", 0))]


def last_attempt(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the last attempt of a job; an empty one if there was none."""
    return next(iter(job.get("attempts", [])[-1:]), {})


def last_container(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what AWS Batch reports of the container of a job: of its last attempt, else of the job.

    Of a job with several containers it is the first that failed, else the first that is essential.
    """
    attempt = last_attempt(job)
    if "ecsProperties" in job:
        defined = {one.get("name"): one for one in reader.containers_of_task(job)}
        tasks = attempt.get("taskProperties", [])
        ended = [container for task in tasks for container in task.get("containers", [])]
        containers = [{**defined.get(one.get("name"), {}), **one} for one in ended or defined.values()]
        failed = (one for one in containers if one.get("reason") or one.get("exitCode"))
        essential = (one for one in containers if one.get("essential", True))
        return next(failed, next(essential, {}))
    own = job.get("container", {})
    reported: Mapping[str, Any] = attempt.get("container", {})
    return {key: own[key] for key in ("exitCode", "reason") if key in own} | dict(reported)


def short_reason(job: Mapping[str, Any], parts: Iterable[Mapping[str, Any]] = ()) -> str:
    """Return why a job ended in one line: its status reason, unless what a container reports says more.

    `parts` are the nodes of the job; of these it is the one that ended first.
    """
    status_reason = str(job.get("statusReason") or "")
    if status_reason and not status_reason.startswith(_GENERAL):
        return status_reason
    failed = (part for part in parts if part.get("status") == "FAILED")
    for part in [*sorted(failed, key=lambda part: int(part.get("stoppedAt", 0))), job]:
        container = last_container(part)
        index = part.get("jobId", "").partition("#")[2]
        node = f"node {index}: " if index else ""
        if text := container.get("reason"):
            return f"{node}{text}"
        if code := container.get("exitCode"):
            known = exit_code(code)
            return f"{node}exit code {code}" + (f", {known.means}" if known else "")
    return status_reason


def short_reasons(jobs: Sequence[Mapping[str, Any]], *, client: Clients) -> dict[str, str]:
    """Return why each of the jobs that failed ended, and how the children of arrays stand, by the IDs of the jobs."""
    arrays = {job["jobId"]: _children_in_short(job, client) for job in jobs if is_array(job)}
    failed = [job for job in jobs if job["status"] == "FAILED" and job["jobId"] not in arrays]
    nodes = {job["jobId"]: child_job_ids(job) for job in failed if "nodeProperties" in job}
    parts = describe_jobs([part for ids in nodes.values() for part in ids], client=client)
    of_job = {
        job_id: [part for part in parts if part["jobId"].partition("#")[0] == job_id] for job_id in nodes
    }
    return arrays | {job["jobId"]: short_reason(job, of_job.get(job["jobId"], ())) for job in failed}


def is_array(job: Mapping[str, Any]) -> bool:
    """Return whether a job is an array whose children are jobs of their own, not the nodes of one job."""
    return "size" in job.get("arrayProperties", {}) and not reader.array_nodes(job)


def _children_in_short(job: Mapping[str, Any], client: Clients) -> str:
    states = states_of_children(job)
    counts = f"{job['arrayProperties']['size']} children: {', '.join(f'{count} {state}' for state, count in states)}"
    if not dict(states).get("FAILED"):
        return counts
    index, first = first_failed_child(job, client)
    return f"{counts}; child {index}: {short_reason(first)}"


def first_failed_child(job: Mapping[str, Any], client: Clients) -> tuple[int, Mapping[str, Any]]:
    """Return the index and the summary of the first child of an array that failed; 0 and nothing if none has."""
    first = next(reader.list_jobs(client("batch"), ["FAILED"], arrayJobId=job["jobId"]), {})
    return first.get("arrayProperties", {}).get("index", 0), first


def states_of_children(job: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return the states of the children of an array with their numbers, in the order of states."""
    children = job.get("arrayProperties", {}).get("statusSummary", {})
    return tuple((state, children[state]) for state in STATES if children.get(state))


def describe_pending_job(job: Mapping[str, Any], *, now: datetime, client: Clients) -> PendingJob:
    """Describe everything that a job may wait for. What cannot be read is listed in the result and not judged."""
    return _PendingJobReader(client).read_pending_job(job, now)


def describe_environments(
    queue: Mapping[str, Any], *, client: Clients
) -> tuple[tuple[Environment, ...], tuple[str, ...]]:
    """Return the compute environments of a queue, in order, and what could not be read of them."""
    reading = _PendingJobReader(client)
    return reading.environments(queue), tuple(reading.unseen)


class _PendingJobReader:
    def __init__(self, client: Clients) -> None:
        self._client = client
        self.unseen: list[str] = []

    def _try_read(self, what: str, see: Callable[[], _Result]) -> _Result | None:
        try:
            return see()
        except AWS_ERRORS as error:
            self.unseen.append(f"{what}: {error}")
            return None

    def read_pending_job(self, description: Mapping[str, Any], now: datetime) -> PendingJob:
        if description["status"] != "RUNNABLE":  # it waits for no capacity
            return PendingJob(
                now=now,
                job=self._job(description),
                queue=description["jobQueue"],
                unseen=tuple(self.unseen),
            )
        queue = self._client("batch").describe_job_queues(jobQueues=[description["jobQueue"]])["jobQueues"][0]
        job = self._job(description)
        environments = self.environments(queue)
        return PendingJob(
            now=now,
            job=job,
            queue=queue["jobQueueName"],
            queue_enabled=queue["state"] == "ENABLED",
            queue_status=queue.get("status", "VALID"),
            queue_status_reason=queue.get("statusReason", ""),
            environments=environments,
            ahead=self._try_read("the order of the queue", lambda: self._ahead(job.id, queue["jobQueueArn"])),
            running=self._try_read("running jobs", lambda: self._running(queue["jobQueueArn"])),
            consumables=self._try_read("consumable resources", lambda: self._consumables(description)) or (),
            quota=self._try_read("the quota", lambda: self._quota(job, environments)),
            unseen=tuple(self.unseen),
        )

    def environments(self, queue: Mapping[str, Any]) -> tuple[Environment, ...]:
        order = sorted(queue["computeEnvironmentOrder"], key=lambda entry: int(entry["order"]))
        return tuple(self._environment(entry["computeEnvironment"]) for entry in order)

    def _job(self, description: Mapping[str, Any]) -> Job:
        dependency_ids = [
            dependency["jobId"] for dependency in description.get("dependsOn", []) if "jobId" in dependency
        ]
        states = (
            self._try_read(
                "the jobs that it depends on",
                lambda: tuple(
                    (dependency["jobId"], dependency["status"])
                    for dependency in describe_jobs(dependency_ids, client=self._client)
                ),
            )
            if dependency_ids
            else ()
        )
        return Job(
            id=description["jobId"],
            name=description["jobName"],
            status=description["status"],
            status_reason=description.get("statusReason", ""),
            nodes=node_count_of(description),
            vcpus=_required(description, "VCPU"),
            memory_mib=_required(description, "MEMORY"),
            share=description.get("shareIdentifier"),
            dependencies=states or (),
            multi_node="nodeProperties" in description,
            gpus=_required(description, "GPU") or 0,
            instance_type=_instance_type(description),
            children=states_of_children(description) if is_array(description) else (),
        )

    def _environment(self, arn: str) -> Environment:
        batch = self._client("batch")
        environment = batch.describe_compute_environments(computeEnvironments=[arn])["computeEnvironments"][0]
        name = environment["computeEnvironmentName"]
        resources = environment.get("computeResources", {})
        if environment.get("type") == "UNMANAGED":
            what = f"the Auto Scaling group of {name}"
            resources = self._try_read(what, lambda: self._resources_of_group(arn)) or {}
        types = resources.get("instanceTypes", [])
        return Environment(
            name=name,
            enabled=environment["state"] == "ENABLED",
            status=environment.get("status", "VALID"),
            status_reason=environment.get("statusReason", ""),
            max_vcpus=resources.get("maxvCpus"),
            desired_vcpus=resources.get("desiredvCpus"),
            instance_type=types[0] if len(types) == 1 else None,
            capacity=self._try_read(f"the reservation of {name}", lambda: self._capacity(resources)),
            nodes_joined=self._try_read(
                f"the nodes of {name}",
                lambda: self._count_joined_nodes(environment, resources.get("desiredvCpus")),
            ),
            spot=resources.get("type") == "SPOT",
            group=resources.get("group", ""),
            activity=resources.get("activity", ""),
        )

    def _resources_of_group(self, environment: str) -> dict[str, Any]:
        """Return what starts the nodes of an unmanaged environment in the form in which AWS Batch describes its own."""
        autoscaling = self._client("autoscaling")
        tagged = {"Name": f"tag:{ENVIRONMENT_TAG}", "Values": [environment]}
        groups = autoscaling.describe_auto_scaling_groups(Filters=[tagged])["AutoScalingGroups"]
        if not groups:
            return {}
        name = groups[0]["AutoScalingGroupName"]
        template = {key[0].lower() + key[1:]: text for key, text in groups[0]["LaunchTemplate"].items()}
        data = reader.template_data(self._client("ec2"), template)
        type_name = data["InstanceType"]
        vcpus = INSTANCE_TYPES[type_name].vcpus
        activities = autoscaling.describe_scaling_activities(AutoScalingGroupName=name, MaxRecords=1)
        last = next(iter(activities["Activities"]), {"StatusCode": "Successful"})
        return {
            "group": name,
            "activity": "" if last["StatusCode"] == "Successful" else last.get("StatusMessage", ""),
            "launchTemplate": template,
            "templateData": data,
            "instanceTypes": [type_name],
            "maxvCpus": groups[0]["MaxSize"] * vcpus,
            "desiredvCpus": groups[0]["DesiredCapacity"] * vcpus,
        }

    def _capacity(self, resources: Mapping[str, Any]) -> Capacity | None:
        ec2 = self._client("ec2")
        template = resources.get("launchTemplate")
        data = resources.get("templateData") or (reader.template_data(ec2, template) if template else {})
        reservation_id = reader.targeted_reservation(ec2, {"templateData": data})
        if not reservation_id:
            return None
        description = reader.describe_reservation(ec2, reservation_id)
        market = data.get("InstanceMarketOptions", {}).get("MarketType")
        if description is None:  # EC2 forgets a block after its end
            return Capacity(id=reservation_id, reservation=None, is_block=market == "capacity-block")
        reservation = Reservation.from_description(description)
        return Capacity(
            id=reservation_id,
            reservation=reservation,
            is_block=reservation.is_block,
            available=description.get("AvailableInstanceCount", 0),
        )

    def _count_joined_nodes(self, environment: Mapping[str, Any], desired_vcpus: int | None) -> int | None:
        cluster = environment.get("ecsClusterArn")
        if not cluster or not desired_vcpus:
            return None  # no nodes are requested, so none are missing
        pages = self._client("ecs").get_paginator("list_container_instances").paginate(cluster=cluster)
        return sum(len(page["containerInstanceArns"]) for page in pages)

    def _consumables(self, description: Mapping[str, Any]) -> tuple[Consumable, ...]:
        batch = self._client("batch")
        asked = [
            one
            for part in [description, *reader.node_ranges(description)]
            for one in part.get("consumableResourceProperties", {}).get("consumableResourceList", [])
        ]
        found = (
            (one, batch.describe_consumable_resource(consumableResource=one["consumableResource"]))
            for one in asked
        )
        return tuple(
            Consumable(
                name=described["consumableResourceName"],
                needed=one["quantity"],
                total=described.get("totalQuantity", 0),
                free=described.get("availableQuantity", 0),
            )
            for one, described in found
        )

    def _ahead(self, job_id: str, queue: str) -> tuple[QueuedJob, ...] | None:
        front = self._client("batch").get_job_queue_snapshot(jobQueue=queue).get("frontOfQueue", {})
        ids = [entry["jobArn"].rpartition("/")[2] for entry in front.get("jobs", [])]
        # Of an array, the snapshot may name a child.
        places = [place for place, one in enumerate(ids) if one.partition(":")[0] == job_id or one == job_id]
        if not places:
            return None  # the snapshot shows the first 100 jobs only
        return self._queued_jobs(describe_jobs(ids[: places[0]], client=self._client))

    def _running(self, queue: str) -> tuple[QueuedJob, ...]:
        jobs = list_jobs(queue, states=("STARTING", "RUNNING"), client=self._client)
        hosts = self._hosts(jobs)
        return tuple(replace(job, hosts=frozenset(hosts.get(job.id, ()))) for job in self._queued_jobs(jobs))

    def _hosts(self, jobs: Sequence[Mapping[str, Any]]) -> dict[str, set[str]]:
        """Return the container instances of running jobs by their IDs."""
        batch = self._client("batch")
        parts = [part for job in jobs if "nodeProperties" in job for part in child_job_ids(job)]
        for job in jobs:
            if job.get("arrayProperties"):
                children = reader.list_jobs(batch, ("STARTING", "RUNNING"), arrayJobId=job["jobId"])
                parts += [child["jobId"] for child in children]
        hosts: dict[str, set[str]] = {}
        for part in (*jobs, *reader.describe_jobs(batch, parts)):
            job_id = part["jobId"].partition("#")[0].partition(":")[0]
            hosts.setdefault(job_id, set()).update(reader.container_instances(part))
        return hosts

    def _queued_jobs(self, jobs: Iterable[Mapping[str, Any]]) -> tuple[QueuedJob, ...]:
        return tuple(
            QueuedJob(
                id=job["jobId"],
                nodes=node_count_of(job),
                share=job.get("shareIdentifier"),
                # A multi-node job has its nodes to itself.
                vcpus=None if "nodeProperties" in job or reader.array_nodes(job) else _required(job, "VCPU"),
            )
            for job in jobs
        )

    def _quota(self, job: Job, environments: Sequence[Environment]) -> Quota | None:
        # Quotas on Capacity Blocks apply when a block is bought; instances in a block count against no other quota.
        blocks = [environment.capacity and environment.capacity.is_block for environment in environments]
        # Spot nodes count against their own quota, and multi-node jobs do not run on them.
        instance_types = [
            INSTANCE_TYPES.get(environment.instance_type or "")
            for environment in environments
            if not environment.spot
        ]
        instance_type = instance_types[0] if instance_types else None
        if any(blocks) or instance_type is None:
            return None
        counts = on_demand_quota(instance_type)
        quotas = self._client("service-quotas")
        quota = quotas.get_service_quota(ServiceCode="ec2", QuotaCode=counts.code)["Quota"]
        return Quota(
            name=counts.name,
            vcpus=quota["Value"],
            request=counts.request_command(
                value=job.nodes * instance_type.vcpus, region=quotas.meta.region_name
            ),
        )


_OLDER: Final = {"VCPU": "vcpus", "MEMORY": "memory"}  # API_ContainerProperties; older tools still set them


def _required(job: Mapping[str, Any], resource_type: str) -> int | None:
    """Return the largest requirement of any node, on which several containers may run."""
    of_nodes = [
        [
            value
            for container in reader.containers_of_task(part)
            for value in _requirements(container, resource_type)
        ]
        for part in reader.node_ranges(job) or [job]
    ]
    return max((math.ceil(sum(values)) for values in of_nodes if values), default=None)


def _requirements(container: Mapping[str, Any], resource_type: str) -> list[float]:
    """Return what a container requires of a resource; on AWS Fargate it can be a quarter of a vCPU."""
    values = [
        float(requirement["value"])
        for requirement in container.get("resourceRequirements", [])
        if requirement["type"] == resource_type
    ]
    older = container.get(_OLDER.get(resource_type, ""))
    return values or ([float(older)] if older else [])


def _instance_type(job: Mapping[str, Any]) -> str:
    """Return the instance type that a multi-node job asks for; empty if it takes that of the queue."""
    named = (
        type_name
        for one in reader.node_ranges(job)
        for type_name in [one.get("container", {}).get("instanceType"), *one.get("instanceTypes", [])]
    )
    return next(filter(None, named), "")


RECORDS: Final = (
    RuleRecord(
        "UC6205",
        "A job that is named is known to AWS Batch.",
        remedy="`ultracluster queue --all` lists the IDs that AWS Batch still knows; it forgets ended jobs after some days.",
        source="AWS Batch user guide, job states, 2026-10: ended jobs are kept for at least 7 days.",
    ),
)
