"""No template of a rollout can spend: neither a resource that reserves, nor a permission to purchase for anybody."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.stacks.conftest import ROOT
from tests.unit.stacks.two_clusters import assembled
from tests.unit.ultracluster.iam_evaluation import as_list

pytestmark = pytest.mark.slow

ROLLOUTS = sorted((ROOT / "stacks/rollouts").glob("*.yaml"))
RESERVING = {
    "AWS::EC2::CapacityReservation",
    "AWS::EC2::CapacityReservationFleet",
    "AWS::EC2::Host",
    "AWS::EC2::EC2Fleet",
    "AWS::EC2::SpotFleet",
}
SPENDING = ("ec2:purchase", "ec2:createcapacityreservation", "sagemaker:createtrainingplan")


def statements(value: Any) -> Iterator[dict[str, Any]]:
    """Every policy statement, wherever it stands."""
    if isinstance(value, dict):
        if "Effect" in value and ("Action" in value or "NotAction" in value):
            yield value
        for each in value.values():
            yield from statements(each)
    elif isinstance(value, list):
        for each in value:
            yield from statements(each)


def spends(template: dict[str, Any]) -> list[str]:
    """What in a template buys, or lets somebody buy."""
    found = [each["Type"] for each in template["Resources"].values() if each["Type"] in RESERVING]
    for statement in statements(template):
        if statement["Effect"] == "Allow":
            found += ["NotAction"] if "NotAction" in statement else []
            found += [action for action in as_list(statement.get("Action", [])) if _covers(action)]
    return found


def _without_denials(value: Any) -> Any:
    """What denies a purchase names it too."""
    if isinstance(value, dict):
        return {key: _without_denials(each) for key, each in value.items()}
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, dict) and each.get("Effect") == "Deny")]
        return [_without_denials(each) for each in kept]
    return value


def _covers(action: str) -> bool:
    beginning, star, _ = action.lower().partition("*")
    return any(beginning.startswith(each) or (star and each.startswith(beginning)) for each in SPENDING)


@pytest.fixture(scope="module", params=ROLLOUTS, ids=lambda path: path.stem)
def rollout_templates(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return [dict(stack.template) for stack in assembled(request.param)]


def test_no_template_of_a_rollout_spends(rollout_templates: list[dict[str, Any]]) -> None:
    assert len(rollout_templates) >= 3
    assert [statement for each in rollout_templates for statement in statements(each)]
    assert [spends(each) for each in rollout_templates] == [[]] * len(rollout_templates)
    assert not [each for each in rollout_templates if "ec2:Purchase" in json.dumps(_without_denials(each))]


def test_the_ready_rollouts_are_looked_at() -> None:
    assert {"quickstart", "two-waves"} <= {path.stem for path in ROLLOUTS}


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ({"Effect": "Allow", "Action": "ec2:PurchaseCapacityBlock"}, True),
        ({"Effect": "Allow", "Action": ["s3:GetObject", "ec2:Purchase*"]}, True),
        ({"Effect": "Allow", "Action": "ec2:*"}, True),
        ({"Effect": "Allow", "Action": "*"}, True),
        ({"Effect": "Allow", "Action": "ec2:P*"}, True),
        ({"Effect": "Allow", "Action": "ec2:purchasecapacityblock*"}, True),
        ({"Effect": "Allow", "NotAction": "iam:*"}, True),
        ({"Effect": "Allow", "Action": "sagemaker:CreateTrainingPlan"}, True),
        ({"Effect": "Deny", "Action": "ec2:Purchase*"}, False),
        ({"Effect": "Allow", "Action": ["ec2:Describe*", "ec2:CreateTags"]}, False),
    ],
)
def test_a_permission_to_spend_would_be_seen(statement: dict[str, Any], *, found: bool) -> None:
    policy = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": {"Statement": [statement]}}}
    assert bool(spends({"Resources": {"Policy": policy}})) is found


def test_a_reservation_would_be_seen() -> None:
    assert spends({"Resources": {"Capacity": {"Type": "AWS::EC2::CapacityReservation"}}})
