"""SNS topics and SQS queues."""

import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import (
    ApiProvider,
    Context,
    Provider,
    Setting,
    Tagging,
    unless_gone,
)
from ultracluster_local.cloudformation.values import Properties, changed_keys

__all__ = ["PROVIDERS"]

_TOPIC_ATTRIBUTES = {
    "DisplayName": "",
    "KmsMasterKeyId": "",
    "SignatureVersion": "1",
    "TracingConfig": "PassThrough",
}
"""Attributes with their defaults: API_SetTopicAttributes."""


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Topic(ApiProvider):
    """An SNS topic."""

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:
        """Return the attributes, with the name taken from the ARN."""
        return {
            **super().attributes(context, physical_id, properties),
            "TopicName": physical_id.rsplit(":", 1)[-1],
        }

    def create(self, context: Context, properties: Properties) -> str:
        arn = super().create(context, properties)
        for one in properties.get("Subscription") or []:
            context.call("sns", "Subscribe", {"TopicArn": arn, **one})
        return arn


def _attribute(put: str, name: str, *, absent: str = "", at_creation: bool = False) -> Setting:
    return Setting(
        put=put,
        sent=lambda value: {"AttributeName": name, "AttributeValue": _text(value)},
        absent=absent,
        at_creation=at_creation,
    )


class _PolicyOf(Provider):
    """A policy of several topics or queues; deleting it restores no earlier one."""

    def __init__(self, *, service: str, targets: str, operation: str, target: str, none: str) -> None:
        self._service, self._targets, self._operation = service, targets, operation
        self._target, self._none = target, none

    def create(self, context: Context, properties: Properties) -> str:
        for one in properties[self._targets]:
            self._put(context, one, json.dumps(properties["PolicyDocument"]))
        return context.generated_name()

    def _put(self, context: Context, target: str, text: str) -> None:
        if self._service == "sqs":
            request: dict[str, Any] = {self._target: target, "Attributes": {"Policy": text}}
        else:
            request = {self._target: target, "AttributeName": "Policy", "AttributeValue": text}
        context.call(self._service, self._operation, request)

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        for one in new[self._targets]:
            self._put(context, one, json.dumps(new["PolicyDocument"]))
        for one in set(old[self._targets]) - set(new[self._targets]):
            self._take(context, one)
        return physical_id

    def _take(self, context: Context, target: str) -> None:
        with unless_gone():
            self._put(context, target, self._none)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        for one in properties[self._targets]:
            self._take(context, one)


_NO_STATEMENTS = json.dumps({"Version": "2012-10-17", "Statement": []})
_SUBSCRIPTION_ATTRIBUTES = {
    "DeliveryPolicy": "{}",
    "FilterPolicy": "{}",
    "FilterPolicyScope": "MessageAttributes",
    "RawMessageDelivery": "false",
    "RedrivePolicy": "{}",
    "SubscriptionRoleArn": "",
}
"""Attributes with their defaults: API_SetSubscriptionAttributes."""


def _subscription(context: Context, properties: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - a provider's signature
    given = {key: _text(part) for key, part in properties.items() if key in _SUBSCRIPTION_ATTRIBUTES}
    rest = {key: part for key, part in properties.items() if key not in _SUBSCRIPTION_ATTRIBUTES}
    return {**rest, "Attributes": given, "ReturnSubscriptionArn": True}


_QUEUE_NAMES = {"QueueName", "Tags"}


_UNSET = {
    "DelaySeconds": "0",
    "KmsDataKeyReusePeriodSeconds": "300",
    "KmsMasterKeyId": "",
    "MaximumMessageSize": "262144",
    "MessageRetentionPeriod": "345600",
    "ReceiveMessageWaitTimeSeconds": "0",
    "RedrivePolicy": "",
    "VisibilityTimeout": "30",
}
"""What an update makes of attributes that it takes away: localstack/localstack, test_change_sets.snapshot.json (2025-12-05)."""


def _queue_attributes(properties: Properties) -> dict[str, str]:
    return {key: _text(part) for key, part in properties.items() if key not in _QUEUE_NAMES}


class _Queue(ApiProvider):
    """An SQS queue, whose attributes are a map of strings."""

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:
        """Return the attributes, with the name taken from the URL."""
        return {
            **super().attributes(context, physical_id, properties),
            "QueueName": physical_id.rsplit("/", 1)[-1],
        }

    def create(self, context: Context, properties: Properties) -> str:
        rest = {key: part for key, part in properties.items() if key in _QUEUE_NAMES}
        if str(properties.get("FifoQueue")).lower() == "true" and "QueueName" not in rest:
            rest["QueueName"] = f"{context.generated_name(limit=75)}.fifo"
        return super().create(context, {**rest, "Attributes": _queue_attributes(properties)})

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        given = {**_UNSET, **_queue_attributes(new)}
        changed = {key: part for key, part in given.items() if key in changed_keys(old, new)}
        if changed:
            context.call("sqs", "SetQueueAttributes", {"QueueUrl": physical_id, "Attributes": changed})
        return super().update(context, physical_id, *({"Tags": side.get("Tags")} for side in (old, new)))


PROVIDERS: Mapping[str, Provider] = {
    "AWS::SNS::Topic": _Topic(
        service="sns",
        creates="CreateTopic",
        id_path="TopicArn",
        deletes=("DeleteTopic", "TopicArn"),
        reads=("GetTopicAttributes", "TopicArn", "Attributes"),
        generates=("TopicName", 256),
        settings={
            name: _attribute("SetTopicAttributes", name, absent=absent)
            for name, absent in _TOPIC_ATTRIBUTES.items()
        },
        owner="TopicArn",
        sends={"TopicName": "Name"},
        apart=frozenset({"Subscription"}),
        tagging=Tagging(service="sns"),
    ),
    "AWS::SNS::TopicPolicy": _PolicyOf(
        service="sns",
        targets="Topics",
        operation="SetTopicAttributes",
        target="TopicArn",
        none=_NO_STATEMENTS,
    ),
    "AWS::SNS::Subscription": ApiProvider(
        service="sns",
        creates="Subscribe",
        id_path="SubscriptionArn",
        deletes=("Unsubscribe", "SubscriptionArn"),
        reads=("GetSubscriptionAttributes", "SubscriptionArn", "Attributes"),
        prepare=_subscription,
        settings={
            name: _attribute("SetSubscriptionAttributes", name, absent=absent, at_creation=True)
            for name, absent in _SUBSCRIPTION_ATTRIBUTES.items()
        },
        owner="SubscriptionArn",
    ),
    "AWS::SQS::Queue": _Queue(
        service="sqs",
        creates="CreateQueue",
        id_path="QueueUrl",
        deletes=("DeleteQueue", "QueueUrl"),
        reads=(
            "GetQueueAttributes",
            lambda _, url, __: {"QueueUrl": url, "AttributeNames": ["All"]},
            "Attributes",
        ),
        generates=("QueueName", 80),
        tagging=Tagging(service="sqs", add="TagQueue", remove="UntagQueue", target="QueueUrl"),
    ),
    "AWS::SQS::QueuePolicy": _PolicyOf(
        service="sqs", targets="Queues", operation="SetQueueAttributes", target="QueueUrl", none=""
    ),
}
