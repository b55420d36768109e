"""Extensions of Capacity Blocks."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.ec2.capacity_calls import NOW, REGION, buy, code, search

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def ec2(local_aws: LocalAws) -> Any:
    local_aws.clock.set(NOW)
    return local_aws.client("ec2", REGION)


def extension(ec2: Any, reservation_id: str, hours: int = 24) -> dict[str, Any]:
    (found,) = ec2.describe_capacity_block_extension_offerings(
        CapacityReservationId=reservation_id, CapacityBlockExtensionDurationHours=hours
    )["CapacityBlockExtensionOfferings"]
    return dict(found)


def test_extension_moves_the_end_when_it_is_paid(ec2: Any, local_aws: LocalAws) -> None:
    local_aws.capacity_market(REGION).payment_takes = timedelta(hours=1)
    offering = search(ec2)[0]
    one = buy(ec2, offering)["CapacityReservation"]["CapacityReservationId"]
    local_aws.clock.advance(timedelta(hours=2))
    wanted = extension(ec2, one)
    ec2.purchase_capacity_block_extension(
        CapacityReservationId=one, CapacityBlockExtensionOfferingId=wanted["CapacityBlockExtensionOfferingId"]
    )

    def end() -> datetime:
        shown = ec2.describe_capacity_reservations(CapacityReservationIds=[one])["CapacityReservations"][0]
        return datetime.fromisoformat(shown["EndDate"].isoformat())

    def history() -> list[str]:
        answer = ec2.describe_capacity_block_extension_history(CapacityReservationIds=[one])
        return [each["CapacityBlockExtensionStatus"] for each in answer["CapacityBlockExtensions"]]

    assert (end(), history()) == (offering["EndDate"], ["payment-pending"])
    with pytest.raises(ClientError, match="pending"):
        extension(ec2, one)
    local_aws.clock.advance(timedelta(hours=1))
    assert (end(), history()) == (offering["EndDate"] + timedelta(hours=24), ["payment-succeeded"])
    extension(ec2, one)


@pytest.mark.parametrize(
    ("left", "sold"),
    [(timedelta(hours=1), True), (timedelta(minutes=59), False), (timedelta(0), False)],
    ids=str,
)
def test_extensions_are_sold_until_an_hour_before_the_end(
    ec2: Any, local_aws: LocalAws, left: timedelta, *, sold: bool
) -> None:
    offering = search(ec2)[0]
    one = buy(ec2, offering)["CapacityReservation"]["CapacityReservationId"]
    local_aws.clock.set(offering["EndDate"] - left)
    if sold:
        assert extension(ec2, one)["CapacityBlockExtensionStartDate"] == offering["EndDate"]
    else:
        with pytest.raises(ClientError) as caught:
            extension(ec2, one)
        assert code(caught) == "IncorrectState"
