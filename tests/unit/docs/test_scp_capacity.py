"""The service control policy of docs/ denies what docs/reference/capacity-security.md says, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.ultracluster.iam_evaluation import Context, allows, as_list

SCP = Path(__file__).parents[3] / "docs/reference/scp-capacity.json"
MOST_CHARACTERS = 5120  # of a service control policy: Organizations User Guide, "Quotas", read 2026-11
RESERVATION = "arn:aws:ec2:us-east-2:111122223333:capacity-reservation/cr-0123456789abcdef0"
OTHER = "arn:aws:iam::111122223333:role/Administrator"
ORDERED: Context = {"aws:RequestTag/uc:po": "december"}
FULL_ACCESS = {"Effect": "Allow", "Action": "*", "Resource": "*"}


@pytest.fixture(scope="module")
def statements() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(SCP.read_text())["Statement"]
    return found


@pytest.fixture(scope="module")
def purchase_role(statements: list[dict[str, Any]]) -> str:
    return str(statements[0]["Condition"]["ArnNotEquals"]["aws:PrincipalArn"])


def permits(statements: list[dict[str, Any]], action: str, **context: Any) -> bool:
    """Whether an account with full access may call this under the policy."""
    return allows([FULL_ACCESS, *statements], action, RESERVATION, context)


BUYING = (
    "ec2:PurchaseCapacityBlock",
    "ec2:PurchaseCapacityBlockExtension",
    "sagemaker:CreateTrainingPlan",
    "sagemaker:ExtendTrainingPlan",
)


@pytest.mark.parametrize("action", BUYING)
def test_only_the_purchase_role_buys(
    statements: list[dict[str, Any]], purchase_role: str, action: str
) -> None:
    assert permits(statements, action, **{"aws:PrincipalArn": purchase_role}, **ORDERED)
    assert not permits(statements, action, **{"aws:PrincipalArn": OTHER}, **ORDERED)
    assert not permits(statements, action, **{"aws:PrincipalArn": f"{purchase_role}2"}, **ORDERED)


def test_not_even_the_purchase_role_buys_a_block_without_an_order(
    statements: list[dict[str, Any]], purchase_role: str
) -> None:
    principal = {"aws:PrincipalArn": purchase_role}
    assert not permits(statements, "ec2:PurchaseCapacityBlock", **principal)
    # An extension takes no tags.
    assert permits(statements, "ec2:PurchaseCapacityBlockExtension", **principal)


@pytest.mark.parametrize(
    "action", ["ec2:RunInstances", "ec2:PurchaseReservedInstancesOffering", "s3:GetObject"]
)
def test_everything_else_stays_as_it_was(statements: list[dict[str, Any]], action: str) -> None:
    assert permits(statements, action, **{"aws:PrincipalArn": OTHER})


def test_is_a_policy_that_organizations_takes(statements: list[dict[str, Any]]) -> None:
    policy = json.loads(SCP.read_text())
    assert policy.keys() == {"Version", "Statement"}
    assert policy["Version"] == "2012-10-17"
    assert len(SCP.read_text()) <= MOST_CHARACTERS
    assert {each["Effect"] for each in statements} == {"Deny"}
    assert {action for each in statements for action in as_list(each["Action"])} == set(BUYING)
