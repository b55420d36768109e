"""The table of `CapacityLedger` with the buyer that uses it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from moto import mock_aws
from tests.unit.ultracluster.builders import REGION, of_type, only
from tests.unit.ultracluster.iam_evaluation import Context, allows, as_list, identity_statements

from ultracluster import CapacityLedger
from ultracluster_runtime.purchasing.effects import Committed, ConditionFailed
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.orders import ExtensionOrder, Order, OrderState, Record

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


NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LAYOUT = ("KeySchema", "AttributeDefinitions", "BillingMode")


def order(name: str, **changes: Any) -> Order:
    terms: dict[str, Any] = {
        "name": name,
        "account": "123456789012",
        "cluster": "ohio",
        "max_fee": Decimal(10_000),
        "month_cap": Decimal(15_000),
        "approver": "jane@example.com",
        "expires_at": NOW + timedelta(days=2),
        "region": REGION,
        "reservation_id": "cr-0123456789abcdef0",
        "expected_end": NOW + timedelta(days=7),
        "extension_hours": 24,
    }
    return ExtensionOrder(**terms | changes)


@pytest.fixture
def client(stack: cdk.Stack, role: iam.Role) -> Iterator[Any]:
    """A DynamoDB client in a world that has the table with the layout of the template; the role may record in it."""
    CapacityLedger(stack, "Ledger").grant_record(role).assert_success()
    properties = only(stack, "AWS::DynamoDB::Table")
    with mock_aws():
        client = boto3.client("dynamodb", region_name=REGION)
        client.create_table(TableName="ledger", **{name: properties[name] for name in LAYOUT})
        yield client


def live_through(ledger: Ledger) -> None:
    """Every write and read that the ledger knows: approved, sent and locked, refused twice, rejected and released."""
    first = ledger.approve(order("first", max_fee=Decimal(9_000)), now=NOW)
    ledger.approve(order("second"), now=NOW)
    other_block = order("third", reservation_id="cr-0123456789abcdef1")
    ledger.approve(other_block, now=NOW)

    def sending(name: str) -> tuple[Record, Record]:
        before = ledger.read(name)
        assert isinstance(before, Record)
        return before, _sending(before)

    before, sent = sending("first")
    assert before == first
    assert ledger.advance(before, sent) == Committed()
    again = ledger.advance(before, replace(sent, nonce="of another process"))
    assert isinstance(again, ConditionFailed)
    assert "state" in again.reasons
    assert ledger.advance(*sending("second")) == ConditionFailed(frozenset({"lock", "month"}))
    assert ledger.advance(*sending("third")) == ConditionFailed(frozenset({"month"}))
    rejected = _rejected(sent)
    assert ledger.advance(sent, rejected) == Committed()
    assert ledger.advance(*sending("second")) == Committed()
    assert [event.state for event in ledger.history("first")] == [
        OrderState.APPROVED,
        OrderState.SENDING,
        OrderState.REJECTED,
    ]
    assert {record.order.name for record in ledger.orders()} == {"first", "second", "third"}


def _sending(record: Record) -> Record:
    return replace(
        record,
        state=OrderState.SENDING,
        version=record.version + 1,
        nonce=f"nonce-of-{record.order.name}",
        sent_at=NOW,
        fee=record.order.max_fee,
        month="123456789012#USD#2026-11",
        holds_lock=True,
    )


def _rejected(record: Record) -> Record:
    return replace(record, state=OrderState.REJECTED, version=record.version + 1, holds_lock=False)


def test_the_buyers_ledger_works_on_the_table_of_the_template(client: Any) -> None:
    live_through(Ledger(client, "ledger"))


def test_the_calls_of_the_ledger_to_the_table_are_allowed_and_no_more_is(
    stack: cdk.Stack, client: Any
) -> None:
    asked: set[tuple[str, str, bool]] = set()

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        asked.update(_as_iam_sees(model.name, params))

    client.meta.events.register("provide-client-params.dynamodb", note)
    live_through(Ledger(client, "ledger"))
    policy = statements(stack)
    (table,) = {resource for each in policy for resource in [each["Resource"]]}

    denied = [
        each
        for each in asked
        if not allows(
            policy,
            f"dynamodb:{each[0]}",
            table,
            {"dynamodb:LeadingKeys": [each[1]], **(IN_TRANSACTION if each[2] else {})},
        )
    ]
    assert denied == []
    granted = {action for each in policy for action in as_list(each["Action"])}
    assert granted == {f"dynamodb:{each[0]}" for each in asked}


def _as_iam_sees(operation: str, params: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Action, partition and whether in a transaction, of each part of a call (DynamoDB guide, transactions and IAM)."""
    if operation != "TransactWriteItems":
        yield operation, params.get("Key", {}).get("pk", {}).get("S", ""), False
        return
    for item in params["TransactItems"]:
        ((kind, part),) = item.items()
        yield f"{kind}Item", (part.get("Key") or part["Item"])["pk"]["S"], True
