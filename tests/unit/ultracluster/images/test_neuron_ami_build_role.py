"""The role of a build names each action."""

import json

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import of_type, only

pytestmark = pytest.mark.slow


def test_the_role_names_each_action_and_pulls_from_the_named_repositories_only(baked: cdk.Stack) -> None:
    (policy,) = of_type(baked, "AWS::IAM::Policy")
    statements = {one["Sid"]: one for one in policy["Properties"]["PolicyDocument"]["Statement"]}
    actions = [
        action
        for one in statements.values()
        for action in ([one["Action"]] if isinstance(one["Action"], str) else one["Action"])
    ]
    assert not [action for action in actions if "*" in action]
    assert not [action for action in actions if action.startswith(("ssm:GetParameter", "ec2:", "iam:"))]
    assert {name for name, one in statements.items() if one["Resource"] == "*"} == {"Login", "RunCommand"}
    assert "123456789012:repository/training" in json.dumps(statements["Pull"]["Resource"])
    assert "ManagedPolicyArns" not in only(baked, "AWS::IAM::Role")
