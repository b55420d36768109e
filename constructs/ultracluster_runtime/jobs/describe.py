"""Looks at a job and at everything that it may wait for, by calls that only read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_catalog.limits.quotas import on_demand_quota
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.jobs.pending import Capacity, Environment, Job, Other, Quota, Waiting
from ultracluster_runtime.jobs.queues import Client
from ultracluster_runtime.lifecycle.observations import Reservation
from ultracluster_runtime.lifecycle.reader import chunks

__all__ = ["STATES", "describe_job", "describe_jobs", "list_jobs", "look", "node_count_of"]

STATES: Final = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
"""States of a job, in order."""

_JOBS_PER_CALL: Final = 100  # DescribeJobs, API Reference, read 2026-11
_UNSEEN: Final = (BotoCoreError, ClientError)
_Seen = TypeVar("_Seen")


def describe_job(job_id: str, *, client: Client) -> Mapping[str, Any]:
    """Give a job as AWS Batch describes it.

    Args:
        job_id: Its id or ARN.
        client: Gives boto3 clients.

    Raises:
        FindingsError: UC6205 if AWS Batch does not know it.
    """
    found = client("batch").describe_jobs(jobs=[job_id.rpartition("/")[2]])["jobs"]
    if not found:
        raise FindingsError(
            [
                Finding(
                    code="UC6205",
                    problem=f"AWS Batch knows no job {quote(job_id)} in this Region",
                    remedy="It forgets ended jobs after some days; `ultracluster jobs list CLUSTER` shows the ids",
                )
            ]
        )
    return dict(found[0])


def describe_jobs(job_ids: Sequence[str], *, client: Client) -> list[Mapping[str, Any]]:
    """Give several jobs, in the order of the ids; those that AWS Batch does not know are left out.

    Args:
        job_ids: Their ids.
        client: Gives boto3 clients.
    """
    found = {
        job["jobId"]: job
        for chunk in chunks(job_ids, _JOBS_PER_CALL)
        for job in client("batch").describe_jobs(jobs=chunk)["jobs"]
    }
    return [found[one] for one in job_ids if one in found]


def list_jobs(queue: str, *, states: Iterable[str], client: Client) -> list[Mapping[str, Any]]:
    """Give the jobs of a queue in some states, oldest first.

    Args:
        queue: Name or ARN of the queue.
        states: The states.
        client: Gives boto3 clients.
    """
    pages = client("batch").get_paginator("list_jobs")
    found = [
        summary["jobId"]
        for state in states
        for page in pages.paginate(jobQueue=queue, jobStatus=state)
        for summary in page["jobSummaryList"]
    ]
    # A job that moved on between two states was listed twice.
    details = describe_jobs(list(dict.fromkeys(found)), client=client)
    return sorted(details, key=lambda job: int(job.get("createdAt", 0)))


def node_count_of(job: Mapping[str, Any]) -> int:
    """Give how many nodes a job has.

    Args:
        job: The job as AWS Batch describes it.
    """
    return int(job.get("nodeProperties", {}).get("numNodes", 1))


def look(job_id: str, *, now: datetime, client: Client) -> Waiting:
    """Look at a job and its surroundings. What cannot be seen is named in the answer, and nothing is concluded from it.

    Args:
        job_id: Its id or ARN.
        now: The time, aware.
        client: Gives boto3 clients.

    Raises:
        FindingsError: UC6205 if AWS Batch does not know the job.
    """
    return _Look(client).waiting(describe_job(job_id, client=client), now)


class _Look:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._unseen: list[str] = []

    def _see(self, what: str, see: Callable[[], _Seen]) -> _Seen | None:
        try:
            return see()
        except _UNSEEN as error:
            self._unseen.append(f"{what}: {error}")
            return None

    def waiting(self, shown: Mapping[str, Any], now: datetime) -> Waiting:
        queue = self._client("batch").describe_job_queues(jobQueues=[shown["jobQueue"]])["jobQueues"][0]
        job = self._job(shown)
        environments = tuple(
            self._environment(entry["computeEnvironment"])
            for entry in sorted(queue["computeEnvironmentOrder"], key=lambda entry: int(entry["order"]))
        )
        return Waiting(
            now=now,
            job=job,
            queue=queue["jobQueueName"],
            queue_enabled=queue["state"] == "ENABLED",
            queue_status=queue.get("status", "VALID"),
            queue_status_reason=queue.get("statusReason", ""),
            environments=environments,
            ahead=self._see("the order of the queue", lambda: self._ahead(job.id, queue["jobQueueArn"])),
            running=self._see("running jobs", lambda: self._running(queue["jobQueueArn"])),
            quota=self._see("the quota", lambda: self._quota(job, environments)),
            unseen=tuple(self._unseen),
        )

    def _job(self, shown: Mapping[str, Any]) -> Job:
        needs = [one["jobId"] for one in shown.get("dependsOn", []) if "jobId" in one]
        states = (
            self._see(
                "the jobs that it depends on",
                lambda: tuple(
                    (one["jobId"], one["status"]) for one in describe_jobs(needs, client=self._client)
                ),
            )
            if needs
            else ()
        )
        return Job(
            id=shown["jobId"],
            name=shown["jobName"],
            status=shown["status"],
            status_reason=shown.get("statusReason", ""),
            nodes=node_count_of(shown),
            vcpus=_required(shown, "VCPU"),
            memory_mib=_required(shown, "MEMORY"),
            share=shown.get("shareIdentifier"),
            dependencies=states or (),
            multi_node="nodeProperties" in shown,
        )

    def _environment(self, arn: str) -> Environment:
        batch = self._client("batch")
        found = batch.describe_compute_environments(computeEnvironments=[arn])["computeEnvironments"][0]
        resources = found.get("computeResources", {})
        types = resources.get("instanceTypes", [])
        name = found["computeEnvironmentName"]
        return Environment(
            name=name,
            enabled=found["state"] == "ENABLED",
            status=found.get("status", "VALID"),
            status_reason=found.get("statusReason", ""),
            max_vcpus=resources.get("maxvCpus"),
            desired_vcpus=resources.get("desiredvCpus"),
            instance_type=types[0] if len(types) == 1 else None,
            capacity=self._see(f"the reservation of {name}", lambda: self._capacity(resources)),
            nodes_joined=self._see(f"the nodes of {name}", lambda: self._joined(found)),
            spot=resources.get("type") == "SPOT",
        )

    def _capacity(self, resources: Mapping[str, Any]) -> Capacity | None:
        template = resources.get("launchTemplate")
        if not template:
            return None
        names = {"LaunchTemplateId": "launchTemplateId", "LaunchTemplateName": "launchTemplateName"}
        ec2 = self._client("ec2")
        versions = ec2.describe_launch_template_versions(
            **{official: template[key] for official, key in names.items() if template.get(key)},
            Versions=[template.get("version") or "$Default"],
        )["LaunchTemplateVersions"]
        data = versions[0]["LaunchTemplateData"] if versions else {}
        target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
        wanted = target.get("CapacityReservationId")
        if not wanted:
            return None
        try:
            shown = ec2.describe_capacity_reservations(CapacityReservationIds=[wanted])[
                "CapacityReservations"
            ]
        except ClientError as error:
            if error.response["Error"]["Code"] != "InvalidCapacityReservationId.NotFound":
                raise
            shown = []
        if not shown:
            return Capacity(id=wanted, reservation=None)
        return Capacity(
            id=wanted,
            reservation=_reservation(shown[0]),
            available=shown[0].get("AvailableInstanceCount", 0),
        )

    def _joined(self, environment: Mapping[str, Any]) -> int | None:
        cluster = environment.get("ecsClusterArn")
        if not cluster or not environment.get("computeResources", {}).get("desiredvCpus"):
            return None  # AWS Batch wants none, so that none is missing
        pages = self._client("ecs").get_paginator("list_container_instances").paginate(cluster=cluster)
        return sum(len(page["containerInstanceArns"]) for page in pages)

    def _ahead(self, job_id: str, queue: str) -> tuple[Other, ...] | None:
        front = self._client("batch").get_job_queue_snapshot(jobQueue=queue).get("frontOfQueue", {})
        ids = [one["jobArn"].rpartition("/")[2] for one in front.get("jobs", [])]
        if job_id not in ids:
            return None  # it shows the first hundred only
        return self._others(describe_jobs(ids[: ids.index(job_id)], client=self._client))

    def _running(self, queue: str) -> tuple[Other, ...]:
        return self._others(list_jobs(queue, states=("STARTING", "RUNNING"), client=self._client))

    def _others(self, jobs: Iterable[Mapping[str, Any]]) -> tuple[Other, ...]:
        return tuple(
            Other(id=job["jobId"], nodes=node_count_of(job), share=job.get("shareIdentifier")) for job in jobs
        )

    def _quota(self, job: Job, environments: Sequence[Environment]) -> Quota | None:
        # The quotas on Capacity Blocks count when a block is bought; instances in one count against no other.
        blocks = [
            one.capacity and one.capacity.reservation and one.capacity.reservation.is_block
            for one in environments
        ]
        # Spot nodes count against a quota of their own, and a job of several nodes does not run on them.
        machines = [INSTANCE_TYPES.get(one.instance_type or "") for one in environments if not one.spot]
        machine = machines[0] if machines else None
        if any(blocks) or machine is None:
            return None
        counts = on_demand_quota(machine)
        quotas = self._client("service-quotas")
        shown = quotas.get_service_quota(ServiceCode="ec2", QuotaCode=counts.code)["Quota"]
        return Quota(
            name=counts.name,
            vcpus=shown["Value"],
            request=counts.request_command(vcpus=job.nodes * machine.vcpus, region=quotas.meta.region_name),
        )


def _reservation(shown: Mapping[str, Any]) -> Reservation:
    known = INSTANCE_TYPES.get(shown["InstanceType"])
    return Reservation(
        state=shown["State"],
        is_block=shown.get("ReservationType") == "capacity-block",
        ultraserver=known is not None and known.ultraserver_type is not None,
        instances=shown.get("TotalInstanceCount", 0),
        start=shown.get("StartDate"),
        end=shown.get("EndDate"),
    )


def _required(job: Mapping[str, Any], what: str) -> int | None:
    """The most that any node's container asks for."""
    ranges = job.get("nodeProperties", {}).get("nodeRangeProperties", [])
    containers = [one.get("container", {}) for one in ranges] or [job.get("container", {})]
    values = [
        int(requirement["value"])
        for container in containers
        for requirement in container.get("resourceRequirements", [])
        if requirement["type"] == what
    ]
    return max(values, default=None)
