"""What the watch sees of AWS, by calls that only read."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, NAMESPACE
from ultracluster_runtime.lifecycle.observations import Reservation
from ultracluster_runtime.watch.figures import Seen, Step, WaitingJob

__all__ = ["Clients", "Watched", "look"]

_STEPS_BACK: Final = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """What is looked at.

    Attributes:
        cluster: Name of the cluster in its metrics.
        job_queues: ARNs of its queues.
        reservations: Ids of its reservations.
        instance_profiles: ARNs of the instance profiles of its nodes.
        without_reservation: Whether it also has capacity that is not reserved.
    """

    cluster: str
    job_queues: tuple[str, ...]
    reservations: tuple[str, ...]
    instance_profiles: tuple[str, ...]
    without_reservation: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Clients:
    """The boto3 clients that are used, all of one Region."""

    batch: Any
    cloudwatch: Any
    ec2: Any


def look(watched: Watched, clients: Clients, now: datetime) -> Seen:
    """Look at everything.

    Args:
        watched: What is looked at.
        clients: The clients.
        now: The time, aware.

    Raises:
        BotoCoreError: If something could not be seen, or `ClientError` where AWS refuses; then nothing is published, and
            the alarm on a silent watch sees that.
    """
    return Seen(
        now=now,
        reservations=_reservations(watched, clients),
        without_reservation=watched.without_reservation,
        launched=_launched(watched, clients),
        waiting=tuple(
            WaitingJob(since=_moment(each["createdAt"]), reason=each.get("statusReason", ""))
            for each in _jobs(watched, clients, "RUNNABLE")
        ),
        running=tuple(
            _moment(each["startedAt"])
            for each in _jobs(watched, clients, "RUNNING")
            if "startedAt" in each  # which the API Reference promises of no job
        ),
        steps=_steps(watched, clients, now),
    )


def _reservations(watched: Watched, clients: Clients) -> tuple[tuple[Reservation, int], ...]:
    shown = []
    for reservation_id in watched.reservations:
        try:
            answer = clients.ec2.describe_capacity_reservations(CapacityReservationIds=[reservation_id])
        except ClientError as error:
            # EC2 forgets what is long over.
            if error.response["Error"]["Code"] != "InvalidCapacityReservationId.NotFound":
                raise
            continue
        shown += answer["CapacityReservations"]
    return tuple(
        (_reservation(each), each["TotalInstanceCount"] - each["AvailableInstanceCount"]) for each in shown
    )


def _reservation(shown: dict[str, Any]) -> Reservation:
    known = INSTANCE_TYPES.get(shown["InstanceType"])
    return Reservation(
        state=shown["State"],
        is_block=shown.get("ReservationType") == "capacity-block",
        ultraserver=known is not None and known.ultraserver_type is not None,
        instances=shown["TotalInstanceCount"],
        start=shown.get("StartDate"),
        end=shown.get("EndDate"),
    )


def _launched(watched: Watched, clients: Clients) -> tuple[datetime, ...]:
    pages = clients.ec2.get_paginator("describe_instances").paginate(
        Filters=[
            {"Name": "iam-instance-profile.arn", "Values": list(watched.instance_profiles)},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
    )
    return tuple(
        instance["LaunchTime"]
        for page in pages
        for reservation in page["Reservations"]
        for instance in reservation["Instances"]
    )


def _jobs(watched: Watched, clients: Clients, status: str) -> list[dict[str, Any]]:
    pages = clients.batch.get_paginator("list_jobs")
    return [
        job
        for queue in watched.job_queues
        for page in pages.paginate(jobQueue=queue, jobStatus=status)
        for job in page["jobSummaryList"]
    ]


def _steps(watched: Watched, clients: Clients, now: datetime) -> tuple[Step, ...]:
    metric = {
        "Namespace": NAMESPACE,
        "MetricName": "StepSeconds",
        "Dimensions": [{"Name": CLUSTER_DIMENSION, "Value": watched.cluster}],
    }
    answer = clients.cloudwatch.get_metric_data(
        MetricDataQueries=[
            {"Id": "steps", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Average"}}
        ],
        StartTime=now - _STEPS_BACK,
        EndTime=now,
    )
    (found,) = answer["MetricDataResults"]
    return tuple(
        Step(at=at, seconds=seconds) for at, seconds in zip(found["Timestamps"], found["Values"], strict=True)
    )


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
