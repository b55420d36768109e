"""Topics and subscriptions of templates."""

from typing import Any

import pytest

pytestmark = pytest.mark.slow


def template(topic: dict[str, Any], subscription: dict[str, Any]) -> dict[str, Any]:
    """Return a topic that sends to a queue."""
    target = {"TopicArn": {"Ref": "Topic"}, "Protocol": "sqs", "Endpoint": {"Fn::GetAtt": ["Queue", "Arn"]}}
    return {
        "Resources": {
            "Topic": {"Type": "AWS::SNS::Topic", "Properties": topic},
            "Queue": {"Type": "AWS::SQS::Queue"},
            "Subscription": {"Type": "AWS::SNS::Subscription", "Properties": {**target, **subscription}},
        }
    }


def test_attributes_that_an_update_takes_away_have_their_defaults_again(stacks: Any) -> None:
    client = stacks.local.client("sns")

    def attributes() -> tuple[str, str]:
        ids = stacks.ids("one")
        topic = client.get_topic_attributes(TopicArn=ids["Topic"])["Attributes"]
        found = client.get_subscription_attributes(SubscriptionArn=ids["Subscription"])["Attributes"]
        return topic["DisplayName"], found["RawMessageDelivery"]

    stacks.create("one", template({}, {}))
    before = attributes()
    stacks.update("one", template({"DisplayName": "all"}, {"RawMessageDelivery": True}))
    assert attributes() == ("all", "true")
    assert stacks.update("one", template({}, {})) == "UPDATE_COMPLETE"
    assert attributes() == before
