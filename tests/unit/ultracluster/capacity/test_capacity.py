from datetime import UTC, datetime

import aws_cdk as cdk
import pytest

from ultracluster import CapacityBlock, CapacityReservation
from ultracluster.capacity.sources import check_source
from ultracluster_spec.findings import FindingsError, reject

pytestmark = pytest.mark.slow

ID = "cr-0123456789abcdef0"


@pytest.mark.parametrize(
    "reservation_id",
    [
        "cr-0123456789abcdef",
        "cr-0123456789abcdef01",
        "cr-0123456789ABCDEF0",
        "0123456789abcdef0",
        "",
        " " + ID,
    ],
)
@pytest.mark.parametrize("source", [CapacityBlock, CapacityReservation])
def test_rejects_a_malformed_reservation_id(
    source: type[CapacityBlock] | type[CapacityReservation], reservation_id: str
) -> None:
    with pytest.raises(
        FindingsError, match=r"UC4109: capacity.reservation_id: got .* Allowed: cr- and 17 hex"
    ):
        reject(check_source(source(reservation_id=reservation_id, zone_id="use2-az3"), path="capacity"))


@pytest.mark.parametrize("zone_id", ["use2-azX", "us-east-2a", "", " use2-az3", "use2-az3\n"])
@pytest.mark.parametrize("source", [CapacityBlock, CapacityReservation])
def test_rejects_a_malformed_zone_id(
    source: type[CapacityBlock] | type[CapacityReservation], zone_id: str
) -> None:
    with pytest.raises(FindingsError, match=r"UC3003: capacity\.zone_id"):
        reject(check_source(source(reservation_id=ID, zone_id=zone_id), path="capacity"))


def test_says_that_an_offering_is_not_a_reservation() -> None:
    with pytest.raises(FindingsError, match="cb- is an offering"):
        reject(
            check_source(
                CapacityBlock(reservation_id="cb-0123456789abcdef0", zone_id="use2-az3"), path="capacity"
            )
        )


def test_accepts_an_id_that_is_known_at_deployment_only() -> None:
    parameter = cdk.CfnParameter(cdk.Stack(), "Reservation")
    assert (
        check_source(
            CapacityBlock(reservation_id=parameter.value_as_string, zone_id="use2-az3"), path="capacity"
        )
        == []
    )


def test_rejects_a_block_that_ends_when_it_starts() -> None:
    when = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
    with pytest.raises(FindingsError, match="UC4112"):
        reject(
            check_source(
                CapacityBlock(reservation_id=ID, zone_id="use2-az3", start=when, end=when), path="capacity"
            )
        )


def test_rejects_a_block_that_ends_at_another_time_than_blocks_do() -> None:
    end = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
    found = check_source(CapacityBlock(reservation_id=ID, zone_id="use2-az3", end=end), path="capacity")
    assert [(each.code, each.path) for each in found] == [("UC4113", "capacity.end")]
