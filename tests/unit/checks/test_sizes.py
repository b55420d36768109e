"""Sizes that AWS refuses, with the least that references become."""

from typing import Any

import pytest
from tests.unit.checks.edits import statement
from tests.unit.checks.whole_cluster import codes_after

VARIABLES = "Function:ClusterWatch/Environment/Variables"
POLICY = "Role:ClusterWatchRole/Policies/0/PolicyDocument/Statement"
JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
QUEUE = {"Fn::GetAtt": ["ClusterQueue73587731", "JobQueueArn"]}

BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6439", "Cluster", {f"{VARIABLES}/LIST": "x" * 4000}),
    ("UC6456", "Cluster", {f"{POLICY}/+": statement(Action="logs:PutLogEvents", Resource=[f"arn:aws:logs:us-east-2:1:{n}" for n in range(400)])}),
    ("UC6411", "Cluster", {f"{JOB}/Command": ["x" * 24_000]}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)


def test_an_environment_beyond_4_kb_is_found_also_when_its_arns_are_references() -> None:
    assert codes_after("Cluster", {f"{VARIABLES}/LIST": {"Fn::Join": [",", [QUEUE] * 80]}}) == ["UC6439"]
    assert codes_after("Cluster", {f"{VARIABLES}/LIST": {"Fn::Join": [",", [QUEUE] * 20]}}) == []


def test_the_inline_policies_of_a_role_count_together() -> None:
    log = statement(Action="logs:PutLogEvents", Resource=["arn:aws:logs:us-east-2:1:x" + "y" * 5000])
    policy = {"PolicyName": "more", "PolicyDocument": {"Statement": [log]}}
    at = "Role:ClusterWatchRole/Policies"

    assert codes_after("Cluster", {f"{at}/+": policy}) == []
    assert codes_after("Cluster", {f"{at}/+": policy | {"PolicyDocument": {"Statement": [log, log]}}}) == [
        "UC6456"
    ]
