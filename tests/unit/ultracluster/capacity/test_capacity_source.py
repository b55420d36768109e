"""A source of capacity has a name and a largest number of nodes."""

from collections.abc import Callable

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import RESERVATION, ZONE, only
from tests.unit.ultracluster.capacity.three_sources import GROUP, cluster

from ultracluster import (
    Capacity,
    CapacityBlock,
    CapacityReservation,
    OnDemand,
    ReservationGroup,
)
from ultracluster.capacity.sources import check_source
from ultracluster_spec.findings import FindingsError, reject

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["S", "s", "Spill", "9spill", "s" * 33, "spill ", "spill_1"])
def test_rejects_a_name_that_cannot_be_part_of_an_id(name: str) -> None:
    with pytest.raises(FindingsError, match="UC4123"):
        reject(check_source(OnDemand(name=name), path="capacity"))


@pytest.mark.parametrize(
    "bring",
    [
        lambda most: CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE, name="reserved", max_nodes=most),
        lambda most: CapacityReservation(
            reservation_id=RESERVATION, zone_id=ZONE, name="reserved", max_nodes=most
        ),
        lambda most: ReservationGroup(
            resource_group_arn=GROUP, zone_id=ZONE, name="reserved", max_nodes=most
        ),
    ],
)
def test_an_imported_source_has_its_own_name_and_number_of_nodes(
    stack: cdk.Stack, bring: Callable[[int], Capacity]
) -> None:
    cluster(stack, bring(2), node_count=4)
    assert only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]["MaxvCpus"] == 2 * 192
    assert stack.node.find_child("Cluster").node.try_find_child("Nodes-reserved") is not None
    with pytest.raises(FindingsError, match=r"UC4101: capacity\.max_nodes"):
        reject(check_source(bring(1001), path="capacity"))


@pytest.mark.parametrize(
    ("capacity", "strategy"),
    [
        (
            lambda: CapacityBlock(
                reservation_id=RESERVATION, zone_id=ZONE, allocation_strategy="best-fit-progressive"
            ),
            "BEST_FIT_PROGRESSIVE",
        ),
        (
            lambda: CapacityReservation(
                reservation_id=RESERVATION, zone_id=ZONE, allocation_strategy="best-fit"
            ),
            "BEST_FIT",
        ),
        (
            lambda: ReservationGroup(resource_group_arn=GROUP, zone_id=ZONE, allocation_strategy="best-fit"),
            "BEST_FIT",
        ),
    ],
)
def test_an_imported_source_has_the_allocation_strategy_asked_for(
    stack: cdk.Stack, capacity: Callable[[], Capacity], strategy: str
) -> None:
    cluster(stack, capacity(), node_count=4)
    resources = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert resources["AllocationStrategy"] == strategy
