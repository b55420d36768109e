"""Shares divide the nodes of a queue."""

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import Duration
from tests.unit.ultracluster.scheduling.team_queues import shown

from ultracluster import (
    FairShare,
    TrainingQueue,
    UltraCluster,
)
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.slow


def test_more_parts_are_a_smaller_weight(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    policy = shown(team[0].queue, resources)["SchedulingPolicyArn"]["Fn::GetAtt"][0]
    assert resources[policy]["Properties"]["FairsharePolicy"] == {
        "ComputeReservation": 10,
        "ShareDecaySeconds": 86_400,
        "ShareDistribution": [
            {"ShareIdentifier": "default", "WeightFactor": 1},
            {"ShareIdentifier": "eval", "WeightFactor": 0.3333},
            {"ShareIdentifier": "research", "WeightFactor": 0.25},
        ],
    }


@pytest.mark.parametrize("identifier", ["", "team-a", "team a", "*", "a**", "a*b", "a" * 256])
def test_rejects_a_malformed_share_identifier(identifier: str) -> None:
    with pytest.raises(FindingsError, match="UC6301"):
        FairShare(parts={identifier: 1})


@pytest.mark.parametrize("identifier", ["a", "TeamA1", "Team*", "a" * 255])
def test_accepts_a_share_identifier(identifier: str) -> None:
    assert FairShare(parts={identifier: 1}).policy.share_distribution[0].share_identifier == identifier


@pytest.mark.parametrize(("parts", "weight"), [(1, 1.0), (1000, 0.001)])
def test_accepts_parts_up_to_the_bounds(parts: int, weight: float) -> None:
    assert FairShare(parts={"a": parts}).policy.share_distribution[0].weight_factor == weight


@pytest.mark.parametrize("parts", [0, 1001])
def test_rejects_parts_out_of_bounds(parts: int) -> None:
    with pytest.raises(FindingsError, match="UC6302"):
        FairShare(parts={"a": parts})


def test_rejects_identifiers_that_overlap() -> None:
    with pytest.raises(FindingsError, match=r"UC6303: parts: 'Team\*' also matches 'TeamB'"):
        FairShare(parts={"TeamB": 1, "Team*": 2})
    assert FairShare(parts={"TeamB": 1, "TeamA*": 2})


def test_rejects_more_shares_than_a_queue_can_have() -> None:
    assert FairShare(parts={f"a{each}": 1 for each in range(500)})
    with pytest.raises(FindingsError, match="UC6303: parts: got 501"):
        FairShare(parts={f"a{each}": 1 for each in range(501)})


@pytest.mark.parametrize("percent", [-1, 100])
def test_rejects_a_reservation_of_all_capacity(percent: int) -> None:
    with pytest.raises(FindingsError, match="UC6304"):
        FairShare(compute_reservation_percent=percent)
    assert FairShare(compute_reservation_percent=99).policy.compute_reservation == 99


@pytest.mark.parametrize("decay", [Duration.seconds(599), Duration.seconds(604_801)])
def test_rejects_a_decay_outside_the_limits_of_batch(decay: Duration) -> None:
    with pytest.raises(FindingsError, match="UC6313"):
        FairShare(decay=decay)
    assert FairShare(decay=Duration.minutes(10)).policy.share_decay_seconds == 600
    assert FairShare(decay=Duration.days(7)).policy.share_decay_seconds == 604_800
