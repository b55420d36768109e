"""The sources of a cluster are at most three, and each of its own."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import RESERVATION, ZONE, block
from tests.unit.ultracluster.capacity.three_sources import RESERVED, SPILL, cluster

from ultracluster import CapacityReservation, OnDemand
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth


def test_rejects_a_fourth_source(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4120: queue_sources: got 4 sources"):
        cluster(stack, block(), RESERVED, SPILL, OnDemand(name="more"))
    assert stack.node.try_find_child("Cluster") is None


def test_rejects_no_source(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC4120"):
        cluster(stack)


@pytest.mark.parametrize(
    ("names", "says"), [(("spill", "spill"), "two sources are called"), ((None, None), "have no name")]
)
def test_rejects_sources_with_the_same_name(
    stack: cdk.Stack, names: tuple[str | None, str | None], says: str
) -> None:
    with pytest.raises(FindingsError, match=f"UC4121.*{says}"):
        cluster(stack, *(OnDemand(name=each) for each in names))


def test_rejects_one_reservation_as_two_sources(stack: cdk.Stack) -> None:
    again = CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE, name="again")
    with pytest.raises(FindingsError, match="UC4127"):
        cluster(stack, block(), again)
