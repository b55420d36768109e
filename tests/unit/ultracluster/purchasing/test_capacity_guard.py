import json
import re
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from moto.events.models import EventPattern
from tests.unit.ultracluster.builders import new_stack, of_type, only

from ultracluster import CapacityGuard

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def guarded() -> cdk.Stack:
    stack = new_stack()
    CapacityGuard(stack, "Guard", emails=["jane@example.com", "joe@example.com"])
    return stack


@pytest.fixture(scope="module")
def pattern(guarded: cdk.Stack) -> EventPattern:
    return EventPattern.load(json.dumps(only(guarded, "AWS::Events::Rule")["EventPattern"]))


def call(name: str, *, service: str = "ec2", **detail: Any) -> dict[str, Any]:
    """An event as CloudTrail hands it to EventBridge (EventBridge guide, events from AWS services)."""
    return {
        "version": "0",
        "id": "36eb8523-97d0-4518-b33d-ee3579ff19f0",
        "detail-type": "AWS API Call via CloudTrail",
        "source": f"aws.{service}",
        "account": "123456789012",
        "time": "2026-11-20T09:14:44Z",
        "region": "us-east-2",
        "resources": [],
        "detail": {
            "eventVersion": "1.10",
            "eventSource": f"{service}.amazonaws.com",
            "eventName": name,
            "eventID": "6f87d04b-9a2a-4954-a7f0-3600a9afc2dd",
            "userIdentity": {
                "type": "AssumedRole",
                "arn": "arn:aws:sts::123456789012:assumed-role/Buyer/jane",
            },
            "sourceIPAddress": "203.0.113.7",
            "requestParameters": {},
            **detail,
        },
    }


def test_sees_every_purchase_call_that_ec2_has(pattern: EventPattern) -> None:
    operations = botocore.session.get_session().get_service_model("ec2").operation_names
    purchases = [name for name in operations if name.startswith("Purchase")]
    assert {"PurchaseCapacityBlock", "PurchaseCapacityBlockExtension"} <= set(purchases)
    assert [name for name in purchases if not pattern.matches_event(call(name))] == []


def test_matches_other_calls_that_commit_to_pay_for_capacity(pattern: EventPattern) -> None:
    session = botocore.session.get_session()
    seen = {
        name
        for service in ("ec2", "sagemaker")
        for name in session.get_service_model(service).operation_names
        if pattern.matches_event(call(name, service=service)) and not name.startswith("Purchase")
    }
    assert seen == {
        "CreateCapacityReservation",
        "CreateCapacityReservationFleet",
        "ModifyCapacityReservation",
        "ModifyCapacityReservationFleet",
        "CreateTrainingPlan",
        "ExtendTrainingPlan",
    }


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        ({}, True),
        ({"errorCode": "Client.UnauthorizedOperation"}, True),
        ({"errorCode": "Server.InternalError"}, True),
        ({"errorCode": "Client.DryRunOperation"}, False),
    ],
)
def test_a_dry_run_sends_no_notification_and_every_other_call_does(
    pattern: EventPattern, error: dict[str, str], *, seen: bool
) -> None:
    assert pattern.matches_event(call("PurchaseCapacityBlock", **error)) is seen


def test_an_event_of_another_kind_or_service_sends_no_notification(pattern: EventPattern) -> None:
    assert not pattern.matches_event(
        call("PurchaseCapacityBlock") | {"detail-type": "EC2 Instance State-change Notification"}
    )
    assert not pattern.matches_event(call("PurchaseOffering", service="medialive"))


def test_the_message_contains_who_did_what_where_and_when(guarded: cdk.Stack) -> None:
    (target,) = only(guarded, "AWS::Events::Rule")["Targets"]
    transformer = target["InputTransformer"]
    event = call("PurchaseCapacityBlock", errorCode="Client.UnauthorizedOperation")
    values = {name: _at(event, path) for name, path in transformer["InputPathsMap"].items()}
    lines = [json.loads(line) for line in transformer["InputTemplate"].split("\n")]
    text = re.sub("<([^>]+)>", lambda match: values[match[1]], "\n".join(lines))
    for part in (
        "PurchaseCapacityBlock",
        "123456789012",
        "us-east-2",
        "2026-11-20T09:14:44Z",
        "assumed-role/Buyer/jane",
        "203.0.113.7",
        "Client.UnauthorizedOperation",
        "6f87d04b-9a2a-4954-a7f0-3600a9afc2dd",
    ):
        assert part in text


def _at(event: Any, path: str) -> str:
    for step in path.removeprefix("$.").split("."):
        event = event[step]
    return str(event)


def test_the_topic_is_encrypted_with_a_key_that_eventbridge_may_use(guarded: cdk.Stack) -> None:
    topic = only(guarded, "AWS::SNS::Topic")
    (key,) = of_type(guarded, "AWS::KMS::Key")
    assert "Fn::GetAtt" in topic["KmsMasterKeyId"]
    assert key["Properties"]["EnableKeyRotation"] is True
    (statement,) = (
        each
        for each in key["Properties"]["KeyPolicy"]["Statement"]
        if each["Principal"] == {"Service": "events.amazonaws.com"}
    )
    assert statement["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
    assert "Condition" not in statement  # with one on the source, messages are lost


def test_each_address_is_subscribed_and_none_by_default(guarded: cdk.Stack, stack: cdk.Stack) -> None:
    CapacityGuard(stack, "Guard")
    assert of_type(stack, "AWS::SNS::Subscription") == []
    subscriptions = [each["Properties"] for each in of_type(guarded, "AWS::SNS::Subscription")]
    assert {(each["Protocol"], each["Endpoint"]) for each in subscriptions} == {
        ("email", "jane@example.com"),
        ("email", "joe@example.com"),
    }
