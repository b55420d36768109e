"""Capacity Reservations on demand."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.ec2.capacity_calls import NOW, REGION, code, state

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def ec2(local_aws: LocalAws) -> Any:
    local_aws.clock.set(NOW)
    return local_aws.client("ec2", REGION)


def reserve(ec2: Any, **changes: Any) -> dict[str, Any]:
    asked = {
        "InstanceType": "trn2.48xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZoneId": "use2-az3",
        "InstanceCount": 2,
        **changes,
    }
    made: dict[str, Any] = ec2.create_capacity_reservation(**asked)["CapacityReservation"]
    return made


def test_reservation_on_demand_is_active_until_it_is_cancelled(ec2: Any) -> None:
    made = reserve(ec2)
    assert (made["State"], made["AvailabilityZone"], made["ReservationType"]) == (
        "active",
        "us-east-2c",
        "default",
    )
    ec2.modify_capacity_reservation(CapacityReservationId=made["CapacityReservationId"], InstanceCount=3)
    ec2.cancel_capacity_reservation(CapacityReservationId=made["CapacityReservationId"])
    assert state(ec2, made["CapacityReservationId"]) == "cancelled"
    with pytest.raises(ClientError, match="cancelled"):
        ec2.cancel_capacity_reservation(CapacityReservationId=made["CapacityReservationId"])


def test_the_same_token_returns_the_same_reservation_and_other_parameters_are_refused(ec2: Any) -> None:
    first, second = (reserve(ec2, ClientToken="token") for _ in range(2))
    assert first["CapacityReservationId"] == second["CapacityReservationId"]
    with pytest.raises(ClientError) as caught:
        reserve(ec2, ClientToken="token", InstanceCount=3)
    assert code(caught) == "IdempotentParameterMismatch"


def test_limited_reservation_expires(ec2: Any, local_aws: LocalAws) -> None:
    made = reserve(ec2, EndDateType="limited", EndDate=NOW + timedelta(days=1))
    local_aws.clock.advance(timedelta(days=1))
    assert state(ec2, made["CapacityReservationId"]) == "expired"
    with pytest.raises(ClientError, match="EndDate is required"):
        reserve(ec2, EndDateType="limited")


def test_insufficient_capacity_is_an_error(ec2: Any, local_aws: LocalAws) -> None:
    local_aws.capacity_market(REGION).insufficient = True
    with pytest.raises(ClientError) as caught:
        reserve(ec2)
    assert code(caught) == "InsufficientInstanceCapacity"


def test_unknown_reservation_is_an_error(ec2: Any) -> None:
    with pytest.raises(ClientError) as caught:
        state(ec2, "cr-00000000000000000")
    assert code(caught) == "InvalidCapacityReservationId.NotFound"
