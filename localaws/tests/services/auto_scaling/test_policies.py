"""Scaling policies are kept, shown and deleted; those that miss what their type needs are refused."""

from typing import Any

import pytest
from tests.events.event_rules import REGION
from tests.refusals import refusal
from tests.services.auto_scaling.groups_of_nodes import GROUP, create

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy

POLICY = {"AutoScalingGroupName": GROUP, "PolicyName": "out"}
SIMPLE = {"AdjustmentType": "ChangeInCapacity", "ScalingAdjustment": 1}


@pytest.fixture
def api(local: LocalAws) -> Any:
    create(local)
    return local.client("autoscaling", REGION)


def test_a_policy_is_shown_until_it_is_deleted(api: Any) -> None:
    for adjustment in (1, 2):  # the second request replaces the first
        api.put_scaling_policy(**POLICY, **SIMPLE | {"ScalingAdjustment": adjustment})
    (shown,) = api.describe_policies(AutoScalingGroupName=GROUP)["ScalingPolicies"]
    assert (shown["ScalingAdjustment"], shown["PolicyType"]) == (2, "SimpleScaling")
    assert api.describe_policies(PolicyNames=["in"])["ScalingPolicies"] == []
    api.delete_policy(PolicyName=shown["PolicyARN"])
    assert api.describe_policies()["ScalingPolicies"] == []


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"PolicyType": "Magic"}, "not valid"),
        ({"AdjustmentType": "ChangeInCapacity"}, "increment must be specified"),
        ({"ScalingAdjustment": 1}, "Adjustment type"),
        ({"PolicyType": "StepScaling", "AdjustmentType": "ExactCapacity"}, "StepAdjustments must be"),
        ({"PolicyType": "TargetTrackingScaling"}, "TargetTrackingConfiguration must be"),
    ],
)
def test_a_policy_without_what_its_type_needs_is_refused(
    api: Any, policy: dict[str, Any], words: str
) -> None:
    code, said = refusal(api.put_scaling_policy, **POLICY, **policy)
    assert code == "ValidationError"
    assert words in said
