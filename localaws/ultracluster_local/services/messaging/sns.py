"""SNS topics, subscriptions and messages."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import camelcase_to_underscores
from moto.sns.models import SNSBackend, Subscription, sns_backends
from moto.sns.responses import SNSResponse
from moto.sqs.exceptions import QueueDoesNotExist

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import document
from ultracluster_local.services.messaging.event_patterns import problem
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="sns")

_ARN_PARTS = 6
_MOST_FILTER_KEYS = 5
_LONGEST_SUBJECT = 100
_EFFECTIVE = '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"text/plain; charset=UTF-8"}}}'
"""What topics have unless they have a delivery policy of their own: test_sns.snapshot.json of localstack/localstack."""


def _invalid(message: str) -> ServiceError:
    return ServiceError("InvalidParameter", f"Invalid parameter: {message}")


@_check("CreateTopic")
def check_create_topic(request: Request) -> None:
    """Refuse invalid names, and FIFO topics without their suffix."""
    name, attributes = request.parameters["Name"], request.parameters.get("Attributes") or {}
    fifo = str(attributes.get("FifoTopic", "false")).lower() == "true"
    stem = name.removesuffix(".fifo") if fifo else name
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", stem) or fifo != name.endswith(".fifo"):
        raise _invalid("Topic Name")
    known = sns_backends[ACCOUNT][request.region].topics.get(request.arn("sns", name))
    given = {tag["Key"]: tag["Value"] for tag in request.parameters.get("Tags") or []}
    if known is not None and given and not given.items() <= known._tags.items():  # noqa: SLF001 - moto keeps them there only
        raise _invalid("Tags Reason: Topic already exists with different tags")
    if known is not None and any(_attribute(known, name) != value for name, value in attributes.items()):
        raise _invalid(
            "Attributes Reason: Topic already exists with different attributes"
        )  # MassTransit/MassTransit#3720


def _attribute(topic: Any, name: str) -> str:
    kept = topic.__dict__.get(camelcase_to_underscores(name))
    return str(kept).lower() if isinstance(kept, bool) else str(kept or "")


@_check("SetTopicAttributes")
def check_set_topic_attributes(request: Request) -> None:
    """Refuse a policy that is no JSON, and a name that is too long."""
    name, value = request.parameters["AttributeName"], request.parameters.get("AttributeValue", "")
    if name in {"Policy", "DeliveryPolicy"} and value and document(value) is None:
        raise _invalid(f"{name}: failed to parse JSON.")
    if name == "DisplayName" and len(value) > _LONGEST_SUBJECT:
        raise _invalid(f"DisplayName: must be at most {_LONGEST_SUBJECT} characters")


@_check(
    *(
        "AddPermission",
        "ConfirmSubscription",
        "DeleteTopic",
        "GetSubscriptionAttributes",
        "GetTopicAttributes",
    ),
    *("ListSubscriptionsByTopic", "Publish", "PublishBatch", "RemovePermission", "SetSubscriptionAttributes"),
    *("SetTopicAttributes", "Subscribe", "Unsubscribe"),
)
def check_arns(request: Request) -> None:
    """Refuse an invalid ARN, and a topic of another Region."""
    for name in ("TopicArn", "SubscriptionArn"):
        if not request.parameters.get(name):
            continue
        parts = request.parameters[name].split(":")
        if len(parts) < _ARN_PARTS:
            raise _invalid(
                f"{name} Reason: An ARN must have at least {_ARN_PARTS} elements, not {len(parts)}"
            )
        if parts[3] != request.region:
            raise _invalid(name)


@_check("Subscribe")
def check_subscribe(request: Request) -> None:
    """Refuse an endpoint that does not fit the protocol, and wrong attributes."""
    protocol, endpoint = request.parameters["Protocol"], request.parameters.get("Endpoint", "")
    if protocol in {"http", "https"} and not endpoint.startswith(f"{protocol}://"):
        raise _invalid("Endpoint must match the specified protocol")
    if protocol.startswith("email") and "@" not in endpoint:
        raise _invalid("Email address")
    if protocol == "lambda" and not endpoint.startswith("arn:"):
        raise _invalid("Lambda endpoint ARN")
    attributes = request.parameters.get("Attributes") or {}
    for wrong in _attribute_problems(attributes):
        raise _invalid(f"Attributes Reason: {wrong}")
    asked = (request.parameters["TopicArn"], endpoint, protocol)
    for one in sns_backends[ACCOUNT][request.region].subscriptions.values():
        kept = {"FilterPolicyScope": "MessageAttributes", "RawMessageDelivery": "false", **one.attributes}
        differs = any(str(kept.get(name)).lower() != value.lower() for name, value in attributes.items())
        if (one.topic.arn, one.endpoint, one.protocol) == asked and differs:  # localstack#8816
            raise _invalid("Attributes Reason: Subscription already exists with different attributes")


@_check("SetSubscriptionAttributes")
def check_set_subscription_attributes(request: Request) -> None:
    """Refuse a wrong value."""
    name = request.parameters["AttributeName"]
    for wrong in _attribute_problems({name: request.parameters.get("AttributeValue", "")}):
        raise _invalid(wrong)


def _attribute_problems(attributes: Mapping[str, str]) -> Iterable[str]:
    raw = attributes.get("RawMessageDelivery", "true")
    if raw.lower() not in {"true", "false"}:
        yield f"RawMessageDelivery: Invalid value [{raw}]. Must be true or false."
    scope = attributes.get("FilterPolicyScope", "MessageBody")
    if scope not in {"MessageBody", "MessageAttributes"}:
        yield f"FilterPolicyScope: Invalid value [{scope}]. Please use either MessageBody or MessageAttributes"
    for name in ("FilterPolicy", "RedrivePolicy", "DeliveryPolicy"):
        text = attributes.get(name)
        if text:
            try:
                policy = json.loads(text)
            except ValueError:
                yield f"{name}: failed to parse JSON."
                continue
            if name == "RedrivePolicy" and (unknown := policy.keys() - {"deadLetterTargetArn"}):
                # cloudposse/terraform-aws-sns-topic#48
                yield f"RedrivePolicy: invalid JSON. Attribute {min(unknown)} is unknown."
            if name == "RedrivePolicy" and not str(policy.get("deadLetterTargetArn", "")).startswith("arn:"):
                yield "RedrivePolicy: deadLetterTargetArn is an invalid arn"
            if name == "FilterPolicy" and (reason := problem(text)):  # its grammar is that of event patterns
                yield f"FilterPolicy: {reason}"
            if name == "FilterPolicy" and len(policy) > _MOST_FILTER_KEYS:
                yield f"FilterPolicy: Filter policy can not have more than {_MOST_FILTER_KEYS} keys"


@_check("Publish")
def check_publish(request: Request) -> None:
    """Refuse a subject that is empty or too long."""
    subject = request.parameters.get("Subject")
    if subject is not None and not (0 < len(subject) <= _LONGEST_SUBJECT and "\n" not in subject):
        raise _invalid("Subject")
    message = request.parameters.get("Message")
    if not message:
        raise _invalid("Empty message")
    if request.parameters.get("MessageStructure") == "json":
        try:
            default = "default" in json.loads(message)
        except ValueError:
            raise _invalid("Message Structure - JSON message body failed to parse") from None
        if not default:
            raise _invalid("Message Structure - No default entry in JSON message body")


@_check("Publish", "PublishBatch")
def check_topic(request: Request) -> None:
    """Refuse a topic that does not exist, for which moto looks among endpoints of applications."""
    topic = request.parameters.get("TopicArn")
    if topic and topic not in sns_backends[ACCOUNT][request.region].topics:
        raise ServiceError("NotFound", "Topic does not exist")


# What a subscription waits for: https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html; the words are those of
# hashicorp/terraform#2776 (2015-07-18), and of ListSubscriptions those of its reference in aws-cli's examples.


def _waits(subscription: Any) -> bool:
    return (
        subscription.protocol.partition("-")[0] in {"http", "https", "email"} and not subscription.confirmed
    )


@instead_of(SNSBackend, "subscribe")
def _subscribe(original: Any, sns: Any, topic_arn: str, endpoint: str, protocol: str) -> Any:
    subscription = original(sns, topic_arn, endpoint, protocol)
    if _waits(subscription):
        subscription.attributes |= {"PendingConfirmation": True, "ConfirmationWasAuthenticated": False}
    return subscription


@instead_of(SNSResponse, "subscribe")
def _answer_subscribe(original: Any, response: Any) -> ActionResult:
    answer = original(response)
    subscription = response.backend.subscriptions[answer.result["SubscriptionArn"]]
    if _waits(subscription) and str(response._get_param("ReturnSubscriptionArn")).lower() != "true":  # noqa: SLF001 - moto has no public name for it
        return ActionResult({"SubscriptionArn": "pending confirmation"})
    return answer


@instead_of(SNSResponse, "list_subscriptions", "list_subscriptions_by_topic")
def _list_subscriptions(original: Any, response: Any) -> ActionResult:
    found = original(response).result
    shown = [_shown(one) if _waits(one) else one for one in found["Subscriptions"]]
    return ActionResult({**found, "Subscriptions": shown})


def _shown(subscription: Any) -> dict[str, str]:
    return {
        "SubscriptionArn": "PendingConfirmation",
        "Owner": subscription.owner,
        "Protocol": subscription.protocol,
        "Endpoint": subscription.endpoint,
        "TopicArn": subscription.topic_arn,
    }


@instead_of(SNSResponse, "get_topic_attributes")
def _get_topic_attributes(original: Any, response: Any) -> ActionResult:
    """Answer what a topic has: its default policies, and attributes that were set (test_sns.snapshot.json of localstack)."""
    topic = response.backend.get_topic(response._get_param("TopicArn"))  # noqa: SLF001 - moto has no public name for it
    shown = original(response).result["Attributes"]
    if not shown["DeliveryPolicy"]:
        shown["EffectiveDeliveryPolicy"] = _EFFECTIVE
    for name in ("SignatureVersion", "TracingConfig"):
        shown[name] = getattr(topic, camelcase_to_underscores(name), None)
    return ActionResult(
        {
            "Attributes": {
                name: value
                for name, value in shown.items()
                if value not in {"", None} or name == "DisplayName"
            }
        }
    )


@instead_of(Subscription, "publish")
def _publish(original: Any, subscription: Any, *given: Any, **named: Any) -> None:
    """Publish although the endpoint of a subscription is gone, as AWS does: the publisher does not hear of it."""
    try:
        original(subscription, *given, **named)
    except QueueDoesNotExist:
        return
