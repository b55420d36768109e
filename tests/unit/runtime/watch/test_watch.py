import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_runtime.lifecycle.observations import Reservation
from ultracluster_runtime.watch.describe import Clients, WatchedCluster, observe
from ultracluster_runtime.watch.handler import embedded
from ultracluster_runtime.watch.metrics import (
    BOOT_TIME,
    ClusterObservations,
    Step,
    WaitingJob,
    compute_metrics,
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


def seen(**changes: Any) -> ClusterObservations:
    given = {
        "now": NOW,
        "reservations": ((block(), 4),),
        "without_reservation": False,
        "launched": (NOW - HOUR,) * 4,
        "waiting": (),
        "running": (NOW - HOUR,),
        "steps": (),
    }
    return ClusterObservations(**(given | changes))


def test_paid_nodes_are_those_of_active_reservations_used_or_not() -> None:
    two = ((block(), 3), (block(instances=2), 0), (block(state="scheduled", instances=8), 0))
    got = compute_metrics(seen(reservations=two))
    assert (got["PaidNodes"], got["UnusedNodes"]) == (6, 3)
    assert compute_metrics(seen(reservations=()))["PaidNodes"] == 0


def test_a_node_must_report_once_it_had_the_time_to_boot() -> None:
    young = NOW - BOOT_TIME + timedelta(seconds=1)
    assert compute_metrics(seen(launched=(young, NOW - BOOT_TIME, NOW - HOUR)))["RunningNodes"] == 2


def test_a_job_waits_from_when_it_could_run() -> None:
    early = (WaitingJob(since=NOW - 10 * HOUR, reason=""), WaitingJob(since=NOW - MINUTE, reason=""))
    assert compute_metrics(seen(waiting=early))["WaitSeconds"] == 3600  # the block began an hour ago
    assert compute_metrics(seen(waiting=early, without_reservation=True))["WaitSeconds"] == 36_000
    assert (
        compute_metrics(seen(waiting=early, reservations=((block(start=None, end=None), 4),)))["WaitSeconds"]
        == 36_000
    )
    assert compute_metrics(seen(waiting=early[1:]))["WaitSeconds"] == 60
    assert compute_metrics(seen())["WaitSeconds"] == 0


def test_what_waits_for_its_block_is_neither_late_nor_blocked() -> None:
    waiting = (WaitingJob(since=NOW - 10 * HOUR, reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - no"),)
    to_come = compute_metrics(seen(waiting=waiting, reservations=((block(state="scheduled"), 0),)))
    assert (to_come["WaitSeconds"], to_come["BlockedJobs"], to_come["RunnableJobs"]) == (0, 0, 1)
    assert compute_metrics(seen(waiting=waiting))["BlockedJobs"] == 1
    assert (
        compute_metrics(seen(waiting=(WaitingJob(since=NOW, reason="Job is waiting"),)))["BlockedJobs"] == 0
    )


def test_the_drain_that_comes_first_is_counted_down_to_nothing() -> None:
    blocks = ((block(), 4), (block(end=NOW + 2 * HOUR), 4), (block(is_block=False), 1))
    assert compute_metrics(seen(reservations=blocks))["SecondsToDrain"] == (120 - 40) * 60
    assert compute_metrics(seen(reservations=((block(end=NOW + MINUTE), 4),)))["SecondsToDrain"] == 0
    assert "SecondsToDrain" not in compute_metrics(seen(reservations=((block(state="expired"), 0),)))


def steps(*, last: datetime, seconds: float = 30) -> tuple[Step, ...]:
    return tuple(Step(at=last - back * MINUTE, seconds=seconds) for back in range(60))


def test_lateness_is_the_time_since_the_last_step_in_medians_and_not_below_five_minutes() -> None:
    assert compute_metrics(seen(steps=steps(last=NOW - 6 * MINUTE)))["StepLateness"] == 10
    assert compute_metrics(seen(steps=steps(last=NOW - 5 * MINUTE)))["StepLateness"] == 0
    assert compute_metrics(seen(steps=steps(last=NOW - 21 * MINUTE, seconds=600)))["StepLateness"] == 2
    slow_once = (*steps(last=NOW - 6 * MINUTE), Step(at=NOW - HOUR, seconds=9000))
    assert compute_metrics(seen(steps=slow_once))["StepLateness"] == 10


def test_a_job_that_has_made_no_step_is_not_late() -> None:
    assert "StepLateness" not in compute_metrics(seen())
    assert "StepLateness" not in compute_metrics(seen(running=(), steps=steps(last=NOW - HOUR)))
    compiles = compute_metrics(seen(running=(NOW - 10 * MINUTE,), steps=steps(last=NOW - 20 * MINUTE)))
    assert "StepLateness" not in compiles


def test_publishes_metrics_of_the_catalogue_and_all_of_its_own() -> None:
    waiting = (WaitingJob(since=NOW, reason=""),)
    got = compute_metrics(seen(waiting=waiting, steps=steps(last=NOW - HOUR / 2)))
    assert set(got) == {name for name, each in METRICS.items() if each.source == "watch"} | {"NodesReporting"}
    event = json.loads(embedded(got, cluster="pretrain", now=NOW))
    (directive,) = event["_aws"]["CloudWatchMetrics"]
    assert event["Cluster"] == "pretrain"
    assert directive["Dimensions"] == [["Cluster"]]
    assert {each["Name"]: each["Unit"] for each in directive["Metrics"]} == {
        name: METRICS[name].unit for name in got
    }


@pytest.fixture
def stubs() -> Any:
    made = {name: boto3.client(name, region_name="us-east-2") for name in ("batch", "cloudwatch", "ec2")}
    stubbers = {name: Stubber(client) for name, client in made.items()}
    for each in stubbers.values():
        each.activate()
    return Clients(**made), stubbers


def answer_the_rest(stubbers: Any) -> None:
    launched = {"Reservations": [{"Instances": [{"LaunchTime": NOW - HOUR}]}]}
    filters = [
        {"Name": "iam-instance-profile.arn", "Values": [PROFILE]},
        {"Name": "instance-state-name", "Values": ["running"]},
    ]
    stubbers["ec2"].add_response("describe_instances", launched, {"Filters": filters})
    job = {"jobId": "j", "jobName": "train", "createdAt": int(NOW.timestamp() * 1000)}
    for status, more in (
        ("RUNNABLE", {"statusReason": "CAPACITY:X"}),
        ("RUNNING", {"startedAt": job["createdAt"]}),
    ):
        stubbers["batch"].add_response(
            "list_jobs", {"jobSummaryList": [job | more]}, {"jobQueue": QUEUE, "jobStatus": status}
        )
    found = {"Id": "steps", "Timestamps": [NOW - MINUTE], "Values": [1.5]}
    stubbers["cloudwatch"].add_response("get_metric_data", {"MetricDataResults": [found]})


WATCHED = WatchedCluster(
    cluster="pretrain",
    job_queues=(QUEUE,),
    reservations=(RESERVATION,),
    instance_profiles=(PROFILE,),
    without_reservation=False,
)


def test_sees_what_aws_answers(stubs: Any) -> None:
    clients, stubbers = stubs
    shown = {
        "State": "active",
        "ReservationType": "capacity-block",
        "InstanceType": "trn2.48xlarge",
        "TotalInstanceCount": 4,
        "AvailableInstanceCount": 1,
        "StartDate": NOW - HOUR,
        "EndDate": NOW + 24 * HOUR,
    }
    stubbers["ec2"].add_response(
        "describe_capacity_reservations",
        {"CapacityReservations": [shown]},
        {"CapacityReservationIds": [RESERVATION]},
    )
    answer_the_rest(stubbers)
    assert observe(WATCHED, clients, NOW) == ClusterObservations(
        now=NOW,
        reservations=((block(), 3),),
        without_reservation=False,
        launched=(NOW - HOUR,),
        waiting=(WaitingJob(since=NOW, reason="CAPACITY:X"),),
        running=(NOW,),
        steps=(Step(at=NOW - MINUTE, seconds=1.5),),
    )


def test_a_reservation_that_ec2_has_forgotten_is_none_and_another_refusal_is_not_hidden(stubs: Any) -> None:
    clients, stubbers = stubs
    stubbers["ec2"].add_client_error(
        "describe_capacity_reservations", "InvalidCapacityReservationId.NotFound"
    )
    answer_the_rest(stubbers)
    assert observe(WATCHED, clients, NOW).reservations == ()
    stubbers["ec2"].add_client_error("describe_capacity_reservations", "UnauthorizedOperation")
    with pytest.raises(clients.ec2.exceptions.ClientError, match="UnauthorizedOperation"):
        observe(WATCHED, clients, NOW)
