"""Observations of a watched cluster."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.lifecycle.observations import Reservation
from ultracluster_runtime.watch.describe import WatchedCluster
from ultracluster_runtime.watch.metrics import (
    ClusterObservations,
    Step,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
RESERVATION = "cr-0123456789abcdef0"
QUEUE = "arn:aws:batch:us-east-2:123456789012:job-queue/q"
PROFILE = "arn:aws:iam::123456789012:instance-profile/nodes"


def block(**changes: Any) -> Reservation:
    given = {
        "state": "active",
        "is_block": True,
        "ultraserver": False,
        "instances": 4,
        "start": NOW - HOUR,
        "end": NOW + 24 * HOUR,
    }
    return Reservation(**(given | changes))  # type: ignore[arg-type]


def observations(**changes: Any) -> ClusterObservations:
    given = {
        "now": NOW,
        "reservations": ((block(), 4),),
        "without_reservation": False,
        "launched": (NOW - HOUR,) * 4,
        "refused": (),
        "invalid_environments": 0,
        "waiting": (),
        "running": (NOW - HOUR,),
        "steps": (),
    }
    return ClusterObservations(**(given | changes))


def steps(*, last: datetime, seconds: float = 30) -> tuple[Step, ...]:
    return tuple(Step(at=last - back * MINUTE, seconds=seconds) for back in range(60))


def answer_the_rest(aws: StubbedAws) -> None:
    job = {"jobId": "j", "jobName": "train", "createdAt": int(NOW.timestamp() * 1000)}
    array = job | {"jobId": "node_array", "arrayProperties": {"size": 2}}
    aws.answer(
        "batch", "list_jobs", {"jobSummaryList": [job, array]}, {"jobQueue": QUEUE, "jobStatus": "PENDING"}
    )
    launched = {"Reservations": [{"Instances": [{"LaunchTime": NOW - HOUR}]}]}
    filters = [
        {"Name": "iam-instance-profile.arn", "Values": [PROFILE]},
        {"Name": "instance-state-name", "Values": ["running"]},
    ]
    aws.answer("ec2", "describe_instances", launched, {"Filters": filters})
    codes = (
        "Client.InstanceInitiatedShutdown",
        "Client.UserInitiatedShutdown",
        "Server.SpotInstanceTermination",
    )
    ended = [{"LaunchTime": NOW - MINUTE, "StateReason": {"Code": code}} for code in codes]
    aws.answer(
        "ec2",
        "describe_instances",
        {"Reservations": [{"Instances": [*ended, {"LaunchTime": NOW}]}]},
        {
            "Filters": [
                filters[0],
                {
                    "Name": "instance-state-name",
                    "Values": ["stopping", "stopped", "shutting-down", "terminated"],
                },
            ]
        },
    )
    order = [{"order": number, "computeEnvironment": name} for number, name in enumerate(("a", "b"))]
    queue = {"jobQueueName": "q", "jobQueueArn": QUEUE, "state": "ENABLED", "priority": 1}
    aws.answer(
        "batch",
        "describe_job_queues",
        {"jobQueues": [queue | {"computeEnvironmentOrder": order}]},
        {"jobQueues": [QUEUE]},
    )
    environments = [
        {"computeEnvironmentName": name, "computeEnvironmentArn": name, "status": status}
        for name, status in (("a", "VALID"), ("b", "INVALID"))
    ]
    aws.answer(
        "batch",
        "describe_compute_environments",
        {"computeEnvironments": environments},
        {"computeEnvironments": ["a", "b"]},
    )
    for status, more in (
        ("RUNNABLE", {"statusReason": "CAPACITY:X"}),
        ("RUNNING", {"startedAt": job["createdAt"]}),
    ):
        child = job | {"jobId": "node_array:1"} | more
        for found, asked in (
            ([job | more, array], {"jobQueue": QUEUE, "jobStatus": status}),
            (
                [child, child] if status == "RUNNING" else [],
                {"arrayJobId": "node_array", "jobStatus": status},
            ),
        ):
            aws.answer("batch", "list_jobs", {"jobSummaryList": found}, asked)
    series = {"Id": "m0", "Timestamps": [NOW - MINUTE], "Values": [1.5]}
    aws.answer("cloudwatch", "get_metric_data", {"MetricDataResults": [series]})


WATCHED = WatchedCluster(
    cluster="pretrain",
    job_queues=(QUEUE,),
    reservations=(RESERVATION,),
    instance_profiles=(PROFILE,),
    without_reservation=False,
)
