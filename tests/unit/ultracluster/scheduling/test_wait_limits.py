"""Waiting jobs are cancelled only where capacity is not reserved."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import (
    RESERVATION,
    ZONE,
    block,
    queue,
    ultra_cluster,
)
from tests.unit.ultracluster.scheduling.environment_resources import shown

from ultracluster import (
    Capacity,
    CapacityReservation,
    OnDemand,
    Queue,
    ReservationGroup,
    Spot,
    TrainingQueue,
    UltraCluster,
    WaitLimits,
)
from ultracluster.scheduling.wait_limits import check_limits, default_limits, limit_actions
from ultracluster_catalog.limits.queues import WAIT_LIMIT_REASONS
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
RESERVED = CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE)
GATHERED = ReservationGroup(resource_group_arn=GROUP, zone_id=ZONE)


def test_a_limit_cancels_jobs_that_wait_for_unreserved_capacity(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    assert shown(team[2], resources)["JobStateTimeLimitActions"] == [
        {
            "Action": "CANCEL",
            "MaxTimeSeconds": 7200,
            "Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
            "State": "RUNNABLE",
        }
    ]
    assert "JobStateTimeLimitActions" not in shown(team[0].queue, resources)


@pytest.mark.parametrize(
    ("source", "limits", "refused"),
    [
        (block(), WaitLimits(insufficient_capacity=24), True),
        (block(), WaitLimits(exceeds_environments=24), True),
        (block(), WaitLimits(exceeds_nodes=24), False),
        (RESERVED, WaitLimits(insufficient_capacity=24), True),
        (GATHERED, WaitLimits(insufficient_capacity=24), True),
        (RESERVED, WaitLimits(exceeds_environments=24), False),
        (OnDemand(), WaitLimits(insufficient_capacity=24, exceeds_environments=24), False),
    ],
)
def test_no_limit_cancels_a_job_that_waits_for_reserved_capacity(
    stack: cdk.Stack, source: Capacity, limits: WaitLimits, *, refused: bool
) -> None:
    behind = queue(stack, capacity=source).environments
    if refused:
        with pytest.raises(FindingsError, match="UC6307"):
            TrainingQueue(stack, "Limited", environments=behind, settings=Queue(wait_limits=limits))
    else:
        assert TrainingQueue(stack, "Limited", environments=behind, settings=Queue(wait_limits=limits))


@pytest.mark.parametrize(
    ("named", "refused"),
    [(("capacity",), False), (("spill",), True), (("spill", "capacity"), True), ((), True)],
)
def test_the_main_queue_of_a_cluster_may_limit_the_wait_for_the_unreserved_capacity_that_it_names(
    stack: cdk.Stack, named: tuple[str, ...], *, refused: bool
) -> None:
    spill = CapacityReservation(reservation_id=RESERVATION, zone_id=ZONE, name="spill", max_nodes=1)
    limited = Queue(capacity=named, wait_limits=WaitLimits(insufficient_capacity=12))
    if refused:
        with pytest.raises(FindingsError, match="UC6307"):
            ultra_cluster(stack, capacity=[OnDemand(), spill], queue=limited)
    else:
        assert ultra_cluster(stack, capacity=[OnDemand(), spill], queue=limited)


@pytest.mark.parametrize(
    ("sources", "limited"),
    [
        ([None], ["insufficient_capacity", "exceeds_environments", "exceeds_nodes"]),
        (
            [OnDemand(), Spot()],
            ["insufficient_capacity", "exceeds_environments", "exceeds_nodes"],
        ),
        ([RESERVED], ["exceeds_environments", "exceeds_nodes"]),
        ([None, GATHERED], ["exceeds_environments", "exceeds_nodes"]),
        ([block()], []),
        ([None, block()], []),
    ],
)
def test_a_job_that_blocks_its_queue_ends_after_a_day_unless_it_may_wait_for_a_reservation(
    sources: list[Capacity | None], limited: list[str]
) -> None:
    limits = default_limits(sources)
    assert [name for name in WAIT_LIMIT_REASONS if getattr(limits, name)] == limited
    assert {each.max_time_seconds for each in limit_actions(limits) or ()} <= {86_400}
    assert check_limits(limits, sources) == []
