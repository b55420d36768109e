import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from tests.unit.ultracluster.builders import of_type, only
from tests.unit.ultracluster.iam_evaluation import Context, allows, as_list, identity_statements

from ultracluster import CapacityLedger

pytestmark = pytest.mark.slow

KEY_ARN = "arn:aws:kms:us-east-2:123456789012:key/11111111-2222-3333-4444-555555555555"
IN_TRANSACTION: Context = {"dynamodb:EnclosingOperation": ["TransactWriteItems"]}


@pytest.fixture
def role(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())


def statements(stack: cdk.Stack) -> list[dict[str, Any]]:
    (role_id,) = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Role")
    return identity_statements(stack, role_id)


@pytest.mark.parametrize(
    ("action", "leading_key", "allowed"),
    [
        ("PutItem", "ORDER#december", True),
        ("UpdateItem", "MONTH#123456789012#USD#2026-11", True),
        ("DeleteItem", "LOCK#cluster/ohio", True),
        ("DeleteItem", "ORDER#december", False),
        ("DeleteItem", "MONTH#123456789012#USD#2026-11", False),
    ],
)
def test_only_locks_are_deleted_and_nothing_is_written_outside_of_a_transaction(
    stack: cdk.Stack, action: str, leading_key: str, *, allowed: bool
) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())
    CapacityLedger(stack, "Ledger").grant_record(role).assert_success()
    policy = statements(stack)
    table = policy[0]["Resource"]
    key: Context = {"dynamodb:LeadingKeys": [leading_key]}
    assert allows(policy, f"dynamodb:{action}", table, {**key, **IN_TRANSACTION}) is allowed
    assert not allows(policy, f"dynamodb:{action}", table, key)
    other = "arn:aws:dynamodb:us-east-2:123456789012:table/other"
    assert not allows(policy, f"dynamodb:{action}", other, {**key, **IN_TRANSACTION})


def test_a_delete_without_a_known_key_is_not_allowed(stack: cdk.Stack, role: iam.Role) -> None:
    CapacityLedger(stack, "Ledger").grant_record(role).assert_success()
    policy = statements(stack)
    assert not allows(policy, "dynamodb:DeleteItem", policy[0]["Resource"], IN_TRANSACTION)


def test_a_reader_reads(stack: cdk.Stack, role: iam.Role) -> None:
    CapacityLedger(stack, "Ledger").grant_read(role).assert_success()
    granted = {action for each in statements(stack) for action in as_list(each["Action"])}
    assert granted == {"dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"}


def test_a_key_of_the_customer_encrypts_the_table_and_goes_with_the_grants(
    stack: cdk.Stack, role: iam.Role
) -> None:
    key = kms.Key.from_key_arn(stack, "Key", KEY_ARN)
    ledger = CapacityLedger(stack, "Ledger", kms_key=key)
    ledger.grant_record(role).assert_success()
    reader = iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal())
    ledger.grant_read(reader).assert_success()
    sse = only(stack, "AWS::DynamoDB::Table")["SSESpecification"]
    assert sse == {"KMSMasterKeyId": KEY_ARN, "SSEEnabled": True, "SSEType": "KMS"}
    template = json.dumps(assertions.Template.from_stack(stack).find_resources("AWS::IAM::Policy"))
    assert template.count("kms:Decrypt") == 2
    assert template.count("kms:GenerateDataKey") == 1


def test_an_imported_ledger_can_be_granted_and_is_not_created(stack: cdk.Stack, role: iam.Role) -> None:
    ledger = CapacityLedger.from_table_name(stack, "Ledger", "orders-of-this-account")
    ledger.grant_record(role).assert_success()
    assert ledger.table_name == "orders-of-this-account"
    assert of_type(stack, "AWS::DynamoDB::Table") == []
    policy = statements(stack)
    assert {str(each["Resource"]) for each in policy} == {
        "arn:aws:dynamodb:us-east-2:123456789012:table/orders-of-this-account"
    }
    assert allows(policy, "dynamodb:GetItem", policy[0]["Resource"])


@pytest.mark.parametrize("with_key", [True, False])
def test_the_key_of_an_existing_ledger_is_granted_with_it(
    stack: cdk.Stack, role: iam.Role, *, with_key: bool
) -> None:
    key = kms.Key.from_key_arn(stack, "Key", KEY_ARN)
    ledger = CapacityLedger.from_table_name(
        stack, "Ledger", "orders-of-this-account", kms_key=key if with_key else None
    )
    ledger.grant_record(role).assert_success()
    assert allows(statements(stack), "kms:Decrypt", KEY_ARN) is with_key
