"""Reading the observations of a watch, on stubbed boto3 clients."""

import pytest
from tests.fake_clients import FakeClients
from tests.unit.runtime.stubbed_clients import StubbedAws
from tests.unit.runtime.watch.watched_cluster import (
    HOUR,
    MINUTE,
    NOW,
    RESERVATION,
    WATCHED,
    answer_the_rest,
    block,
)

from ultracluster_runtime.watch.describe import observe
from ultracluster_runtime.watch.metrics import (
    ClusterObservations,
    Step,
    WaitingJob,
)


def clients_of(aws: StubbedAws) -> FakeClients:
    return FakeClients(aws.client)


def test_reads_the_responses_of_aws(aws: StubbedAws) -> None:
    shown = {
        "State": "active",
        "ReservationType": "capacity-block",
        "InstanceType": "trn2.48xlarge",
        "TotalInstanceCount": 4,
        "AvailableInstanceCount": 1,
        "StartDate": NOW - HOUR,
        "EndDate": NOW + 24 * HOUR,
    }
    aws.answer(
        "ec2",
        "describe_capacity_reservations",
        {"CapacityReservations": [shown]},
        {"CapacityReservationIds": [RESERVATION]},
    )
    answer_the_rest(aws)
    assert observe(WATCHED, clients_of(aws), NOW) == ClusterObservations(
        now=NOW,
        reservations=((block(), 3),),
        without_reservation=False,
        launched=(NOW - HOUR,),
        refused=(NOW - MINUTE,),
        invalid_environments=1,
        waiting=(WaitingJob(since=NOW, reason="CAPACITY:X"),),
        running=(NOW, NOW),  # a job, and the node_array whose first child runs
        steps=(Step(at=NOW - MINUTE, seconds=1.5),),
    )


def test_forgotten_reservation_is_skipped_and_other_errors_are_raised(aws: StubbedAws) -> None:
    aws.refuse("ec2", "describe_capacity_reservations", "InvalidCapacityReservationId.NotFound")
    answer_the_rest(aws)
    assert observe(WATCHED, clients_of(aws), NOW).reservations == ()
    aws.refuse("ec2", "describe_capacity_reservations", "UnauthorizedOperation")
    with pytest.raises(aws.client("ec2").exceptions.ClientError, match="UnauthorizedOperation"):
        observe(WATCHED, clients_of(aws), NOW)
