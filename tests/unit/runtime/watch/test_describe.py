"""Reading the observations of a watch, on stubbed boto3 clients."""

from typing import Any

import pytest
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


def test_reads_the_responses_of_aws(stubs: Any) -> None:
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
        refused=(NOW - MINUTE,),
        invalid_environments=1,
        waiting=(WaitingJob(since=NOW, reason="CAPACITY:X"),),
        running=(NOW, NOW),  # a job, and the node_array whose first child runs
        steps=(Step(at=NOW - MINUTE, seconds=1.5),),
    )


def test_forgotten_reservation_is_skipped_and_other_errors_are_raised(stubs: Any) -> None:
    clients, stubbers = stubs
    stubbers["ec2"].add_client_error(
        "describe_capacity_reservations", "InvalidCapacityReservationId.NotFound"
    )
    answer_the_rest(stubbers)
    assert observe(WATCHED, clients, NOW).reservations == ()
    stubbers["ec2"].add_client_error("describe_capacity_reservations", "UnauthorizedOperation")
    with pytest.raises(clients("ec2").exceptions.ClientError, match="UnauthorizedOperation"):
        observe(WATCHED, clients, NOW)
