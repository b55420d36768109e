"""Shares divide the nodes of a queue."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.ultracluster.scheduling.environment_resources import shown

from ultracluster import (
    TrainingQueue,
    UltraCluster,
)

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
