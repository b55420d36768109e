"""Observations of a block: the reservation as EC2 describes it, its window, and whether it serves jobs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.session
import pytest

from ultracluster_runtime.lifecycle.observations import Reservation

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
END = START + timedelta(days=1)


def reservation(**changes: Any) -> Reservation:
    description = {
        "InstanceType": "trn2.48xlarge",
        "State": "active",
        "ReservationType": "capacity-block",
        "TotalInstanceCount": 2,
        "StartDate": START,
        "EndDate": END,
    }
    return Reservation.from_description(description | changes)


def test_reads_the_description_of_a_block() -> None:
    assert reservation() == Reservation(
        state="active", is_block=True, ultraserver=False, instances=2, start=START, end=END
    )


def test_description_may_lack_type_count_and_times() -> None:
    described = Reservation.from_description({"InstanceType": "trn2.48xlarge", "State": "pending"})

    assert described == Reservation(
        state="pending", is_block=False, ultraserver=False, instances=0, start=None, end=None
    )


@pytest.mark.parametrize(
    ("instance_type", "ultraserver"),
    [("trn2u.48xlarge", True), ("trn2.48xlarge", False), ("trn9.48xlarge", False), ("trn3.48xlarge", True)],
)
def test_ultraserver_is_recognized_by_the_instance_type(instance_type: str, ultraserver: bool) -> None:
    assert reservation(InstanceType=instance_type).ultraserver is ultraserver


@pytest.mark.parametrize(
    ("changes", "exists"),
    [
        ({}, True),
        ({"ReservationType": "default"}, False),
        ({"StartDate": None}, False),
        ({"EndDate": None}, False),
        ({"EndDate": START}, False),
        ({"EndDate": START + timedelta(seconds=1)}, True),
    ],
)
def test_only_a_block_with_usable_times_has_a_window(changes: dict[str, Any], exists: bool) -> None:
    window = reservation(**changes).window(timedelta(minutes=20))

    assert (window is not None) is exists
    assert window is None or window.checkpoint_lead == timedelta(minutes=20)


SERVING = {"active", "assessing", "delayed", "payment-pending", "pending", "scheduled"}
OVER = {"cancelled", "cancelling", "expired", "failed", "payment-failed", "unsupported"}


@pytest.mark.parametrize("state", sorted({*SERVING, *OVER, "a state of tomorrow"}))
def test_usable_states_serve_jobs(state: str) -> None:
    assert reservation(State=state).serves(START) is (state in SERVING)


def test_every_state_of_the_ec2_api_is_known() -> None:
    model = botocore.session.get_session().get_service_model("ec2")

    assert set(model.shape_for("CapacityReservationState").enum) == {
        *SERVING,
        *OVER,
        "unavailable",
    }  # treated as unknown


@pytest.mark.parametrize(
    ("instance_type", "minutes"), [("trn2.48xlarge", 40), ("trn2u.48xlarge", 70)], ids=str
)
def test_serves_until_the_drain(instance_type: str, minutes: int) -> None:
    drain = END - timedelta(minutes=minutes)
    block = reservation(InstanceType=instance_type)

    assert block.serves(drain - timedelta(seconds=1))
    assert not block.serves(drain)
