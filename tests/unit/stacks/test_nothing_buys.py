"""No template of a rollout reserves capacity; tests/security/test_never.py holds that no role of a cluster may buy it."""

from typing import Any

import pytest
from tests.golden.synthesis import stacks_of
from tests.unit.stacks.conftest import ROOT

pytestmark = pytest.mark.slow

ROLLOUTS = sorted((ROOT / "stacks/rollouts").glob("*.yaml"))
RESERVING = {
    "AWS::EC2::CapacityReservation",
    "AWS::EC2::CapacityReservationFleet",
    "AWS::EC2::Host",
    "AWS::EC2::EC2Fleet",
    "AWS::EC2::SpotFleet",
}


def reserves(template: dict[str, Any]) -> list[str]:
    return [each["Type"] for each in template["Resources"].values() if each["Type"] in RESERVING]


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.stem)
def test_no_template_of_a_rollout_reserves(path: Any) -> None:
    templates = [dict(stack.template) for stack in stacks_of(path.name)]

    assert len(templates) >= 3
    assert [reserves(each) for each in templates] == [[]] * len(templates)


def test_the_ready_rollouts_are_looked_at() -> None:
    assert {"quickstart", "two-waves"} <= {path.stem for path in ROLLOUTS}


def test_a_reservation_would_be_seen() -> None:
    assert reserves({"Resources": {"Capacity": {"Type": "AWS::EC2::CapacityReservation"}}})
