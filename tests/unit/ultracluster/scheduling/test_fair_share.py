"""Shares divide the nodes of a queue."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.ultracluster.scheduling.environment_resources import shown

from ultracluster import (
    Queue,
    TrainingQueue,
    UltraCluster,
)
from ultracluster.scheduling.fair_share import fair_share_policy
from ultracluster_spec.values import broken_bounds

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


def policy(**settings: Any) -> Any:
    return fair_share_policy(Queue(**settings))


def codes(**settings: Any) -> list[str]:
    return [finding.code for finding in broken_bounds(Queue(**settings))]


@pytest.mark.parametrize("identifier", ["", "team-a", "team a", "*", "a**", "a*b", "a" * 256])
def test_rejects_a_malformed_share_identifier(identifier: str) -> None:
    assert codes(shares={identifier: 1}) == ["UC6301"]


@pytest.mark.parametrize("identifier", ["a", "TeamA1", "Team*", "a" * 255])
def test_accepts_a_share_identifier(identifier: str) -> None:
    assert codes(shares={identifier: 1}) == []
    assert policy(shares={identifier: 1}).share_distribution[0].share_identifier == identifier


@pytest.mark.parametrize(("parts", "weight"), [(1, 1.0), (1000, 0.001)])
def test_accepts_parts_up_to_the_bounds(parts: int, weight: float) -> None:
    assert codes(shares={"a": parts}) == []
    assert policy(shares={"a": parts}).share_distribution[0].weight_factor == weight


@pytest.mark.parametrize(("percent", "found"), [(-1, ["UC6304"]), (0, []), (99, []), (100, ["UC6304"])])
def test_some_capacity_is_not_reserved(percent: int, found: list[str]) -> None:
    assert codes(compute_reservation_percent=percent) == found
    assert found or (policy(compute_reservation_percent=percent) is None) is (percent == 0)


@pytest.mark.parametrize(("hours", "found"), [(0, ["UC6313"]), (1, []), (168, []), (169, ["UC6313"])])
def test_usage_counts_as_long_as_batch_supports(hours: int, found: list[str]) -> None:
    assert codes(share_decay_hours=hours) == found
    assert policy(share_decay_hours=hours).share_decay_seconds == hours * 3600
