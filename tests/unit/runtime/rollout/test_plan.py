"""The plan of a rollout as plain values."""

import json

import pytest
from tests.unit.runtime.rollout.rollout_simulation import plan

from ultracluster_runtime.rollout.plan import RolloutPlan

PLAN = plan()


def test_plan_survives_json() -> None:
    assert RolloutPlan.from_values(json.loads(json.dumps(PLAN.as_values()))) == PLAN


def test_missing_value_is_an_error() -> None:
    values = PLAN.as_values()
    del values["clusters"][0]["steps"]

    with pytest.raises(KeyError, match="steps"):
        RolloutPlan.from_values(values)


def test_unknown_value_is_an_error() -> None:
    with pytest.raises(TypeError, match="pace"):
        RolloutPlan.from_values(PLAN.as_values() | {"pace": 1})
