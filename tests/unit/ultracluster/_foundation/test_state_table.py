"""A table of state is kept, can be restored, and is used by named actions."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from tests.unit.ultracluster.builders import only

from ultracluster._foundation.state_table import StateTable

pytestmark = pytest.mark.slow

KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def test_only_the_named_actions_are_allowed(stack: cdk.Stack) -> None:
    (statement,) = StateTable(stack).statements("dynamodb:UpdateItem")

    assert statement.actions == ["dynamodb:UpdateItem"]
    assert len(statement.resources) == 1
    assert only(stack, "AWS::DynamoDB::Table")["SSESpecification"] == {"SSEEnabled": False}


def test_a_key_is_used_through_dynamodb_only(stack: cdk.Stack) -> None:
    table = StateTable(stack, kms_key=kms.Key.from_key_arn(stack, "Key", KEY))
    _, statement = table.statements("dynamodb:UpdateItem")

    assert statement.resources == [KEY]
    assert "kms:CreateGrant" not in statement.actions
    assert list(statement.conditions["StringEquals"]) == ["kms:ViaService"]
    assert only(stack, "AWS::DynamoDB::Table")["SSESpecification"]["SSEEnabled"] is True
