"""Rules for policies, roles and function permissions."""

from typing import Any

import pytest
from tests.unit.checks.edits import codes_after, statement

from ultracluster_checks import Source

DOCUMENT = "Role:Watch/Policies/0/PolicyDocument/Statement/+"
JOBS = "Role:Watch/AssumeRolePolicyDocument/Statement/0/Principal"
IMAGES = "arn:aws:ecr:us-east-2:123456789012:repository/train"
OPENING = statement(Action="s3:PutBucketPolicy", Resource="arn:aws:s3:::data")
PASSING = statement(
    Action="iam:PassRole", Condition={"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}}
)
BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6420", "block-nodes", {"Role:Watch/Policies/0/PolicyDocument/Statement/0/Action": "ec2:*"}),
    (
        "UC6423",
        "block-nodes",
        {"Role:Watch/Policies/0/PolicyDocument/Statement/+": statement(Action="iam:PassRole")},
    ),
    (
        "UC6422",
        "block-nodes",
        {"Role:Watch/ManagedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]},
    ),
    (
        "UC6425",
        "block-nodes",
        {"Role:Watch/Policies/0/PolicyDocument/Statement/+": statement(Action="ec2:PurchaseCapacityBlock")},
    ),
    ("UC6423", "block-nodes", {DOCUMENT: PASSING}),
    ("UC6453", "block-nodes", {DOCUMENT: statement(Action="ec2:TerminateInstances")}),
    ("UC6451", "block-nodes", {DOCUMENT: OPENING, JOBS: {"Service": "ecs-tasks.amazonaws.com"}}),
    (
        "UC6422",
        "block-nodes",
        {"Role:Watch/ManagedPolicyArns": ["arn:aws:iam::aws:policy/AmazonSQSFullAccess"]},
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("block-nodes", {DOCUMENT: OPENING}),
    ("block-nodes", {DOCUMENT: statement(Action="ecr:GetAuthorizationToken")}),
    ("block-nodes", {DOCUMENT: statement(Action="ecr:BatchGetImage") | {"Resource": IMAGES}}),
    (
        "block-nodes",
        {
            DOCUMENT: statement(
                Action="ecr:PutImage", Resource="arn:aws:ecr:us-east-2:123456789012:repository/train"
            )
        },
    ),
    ("block-nodes", {"Role:Watch/Policies/0/PolicyDocument/Statement/0/Action": "ec2:Describe*"}),
    (
        "block-nodes",
        {
            "Role:Watch/Policies/0/PolicyDocument/Statement/+": statement(
                Action="iam:PassRole", Resource="arn:aws:iam::123456789012:role/nodes"
            )
        },
    ),
    (
        "block-nodes",
        {
            "Role:Watch/Policies/0/PolicyDocument/Statement/+": {
                "Effect": "Deny",
                "Action": "iam:*",
                "Resource": "*",
            }
        },
    ),
    (
        "block-nodes",
        {
            "Role:Watch/Policies/0/PolicyDocument/Statement/+": statement(
                Action="ec2:PurchaseCapacityBlock", Condition={"StringLike": {"aws:RequestTag/uc:po": "*"}}
            )
        },
    ),
    ("block-nodes", {"Permission/Principal": "*", "Permission/PrincipalOrgID": "o-123"}),
    (
        "lustre-data",
        {
            "BucketPolicy/PolicyDocument/Statement/+": statement(
                Action="s3:GetObject",
                Principal="*",
                Condition={"StringEquals": {"aws:PrincipalOrgID": "o-123"}},
            )
        },
    ),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []
