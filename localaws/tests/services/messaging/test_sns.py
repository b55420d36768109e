"""Topics, subscriptions and messages that SNS refuses."""

from typing import Any

import pytest
from botocore import xform_name
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow

QUEUE = f"arn:aws:sqs:us-east-1:{ACCOUNT}:q"


@pytest.fixture
def sns(local_aws: LocalAws) -> Any:
    local_aws.client("sqs").create_queue(QueueName="q")
    return local_aws.client("sns")


@pytest.fixture
def topic(sns: Any) -> str:
    return str(sns.create_topic(Name="alarms")["TopicArn"])


@pytest.mark.parametrize(
    ("name", "fifo"), [("a.b", False), ("a" * 257, False), ("a.fifo", False), ("a", True), ("a b.fifo", True)]
)
def test_a_topic_has_letters_and_digits_and_the_suffix_of_its_kind(
    sns: Any, name: str, *, fifo: bool
) -> None:
    attributes = {"FifoTopic": "true"} if fifo else {}

    assert refusal(sns.create_topic, Name=name, Attributes=attributes)[1] == "Invalid parameter: Topic Name"


def test_topics_of_both_kinds_are_created(sns: Any) -> None:
    sns.create_topic(Name="A-1_b")
    sns.create_topic(Name="A-1_b.fifo", Attributes={"FifoTopic": "true"})

    assert len(sns.list_topics()["Topics"]) == 2


def test_a_tag_has_one_value(sns: Any, topic: str) -> None:
    twice = {"Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]}

    for call, given in ((sns.create_topic, {"Name": "new"}), (sns.tag_resource, {"ResourceArn": topic})):
        assert "Duplicated keys are not allowed." in refusal(call, **given, **twice)[1]


def sample(shape: Any) -> Any:
    """Return a value with what a shape requires."""
    if shape.type_name == "structure":
        return {name: sample(shape.members[name]) for name in shape.required_members}
    return [sample(shape.member)] if shape.type_name == "list" else "x"


@pytest.mark.parametrize("member", ["TopicArn", "SubscriptionArn"])
def test_topics_and_subscriptions_are_named_by_arns_in_each_operation(sns: Any, member: str) -> None:
    model = sns.meta.service_model
    shapes = {name: model.operation_model(name).input_shape for name in model.operation_names}
    taking = {name: shape for name, shape in shapes.items() if shape and member in shape.members}
    assert taking
    for name, shape in taking.items():
        given = sample(shape) | {member: "arn:aws:sns"}
        message = refusal(getattr(sns, xform_name(name)), **given)[1]
        assert message.endswith(f"{member} Reason: An ARN must have at least 6 elements, not 3"), name


@pytest.mark.parametrize(
    ("protocol", "endpoint", "attributes", "words"),
    [
        ("pigeon", "x", {}, "does not support this protocol string: pigeon"),
        ("https", "http://example.com", {}, "Endpoint must match the specified protocol"),
        ("email", "nobody", {}, "Email address"),
        ("lambda", "f", {}, "Lambda endpoint ARN"),
        ("sqs", QUEUE, {"RawMessageDelivery": "yes"}, "RawMessageDelivery: Invalid value [yes]"),
        ("sqs", QUEUE, {"FilterPolicyScope": "Body"}, "FilterPolicyScope: Invalid value [Body]"),
        ("sqs", QUEUE, {"FilterPolicy": "{"}, "FilterPolicy: failed to parse JSON."),
        ("sqs", QUEUE, {"FilterPolicy": '{"a":[1],"b":[1],"c":[1],"d":[1],"e":[1],"f":[1]}'}, "more than 5 keys"),
        ("sqs", QUEUE, {"RedrivePolicy": '{"deadLetterTargetArn": "q"}'}, "deadLetterTargetArn is an invalid arn"),
    ],
)  # fmt: skip
def test_a_subscription_has_an_endpoint_of_its_protocol_and_valid_settings(
    sns: Any, topic: str, protocol: str, endpoint: str, *, attributes: dict[str, str], words: str
) -> None:
    given = {"TopicArn": topic, "Protocol": protocol, "Endpoint": endpoint, "Attributes": attributes}

    code, message = refusal(sns.subscribe, **given)

    assert (code, words in message) == ("InvalidParameter", True)
    assert sns.list_subscriptions()["Subscriptions"] == []


def test_a_setting_of_a_subscription_is_known_and_valid(sns: Any, topic: str) -> None:
    arn = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=QUEUE)["SubscriptionArn"]
    raw = {"SubscriptionArn": arn, "AttributeName": "RawMessageDelivery"}

    assert "Must be true or false." in refusal(sns.set_subscription_attributes, **raw, AttributeValue="1")[1]
    unknown = {"SubscriptionArn": arn, "AttributeName": "Colour", "AttributeValue": "red"}
    assert refusal(sns.set_subscription_attributes, **unknown)[1] == "Invalid parameter: AttributeName"
    sns.set_subscription_attributes(**raw, AttributeValue="true")


@pytest.mark.parametrize(
    ("subject", "taken"), [("x" * 100, True), ("x" * 101, False), ("", False), ("two\nlines", False)]
)
def test_a_subject_is_one_line_of_up_to_a_hundred_characters(
    sns: Any, topic: str, subject: str, *, taken: bool
) -> None:
    message = {"TopicArn": topic, "Message": "m", "Subject": subject}

    if taken:
        sns.publish(**message)
    else:
        assert refusal(sns.publish, **message)[1] == "Invalid parameter: Subject"


def test_what_is_to_be_confirmed_has_no_arn_yet(local_aws: LocalAws) -> None:
    """hashicorp/terraform#2776 (2015-07-18) and ex-aws/ex_aws_sns#12 (2019-10-16)."""
    sns = local_aws.client("sns")
    topic = sns.create_topic(Name="t")["TopicArn"]
    email = {"TopicArn": topic, "Protocol": "email", "Endpoint": "a@b.example"}

    assert sns.subscribe(**email)["SubscriptionArn"] == "pending confirmation"
    arn = sns.subscribe(**email, ReturnSubscriptionArn=True)["SubscriptionArn"]
    queue = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint="arn:aws:sqs:us-east-1:123456789012:q")

    assert arn.startswith(f"{topic}:")
    assert sns.get_subscription_attributes(SubscriptionArn=arn)["Attributes"]["PendingConfirmation"] == "true"
    listed = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    assert [one["SubscriptionArn"] for one in listed] == ["PendingConfirmation", queue["SubscriptionArn"]]
    assert listed[0]["Endpoint"] == "a@b.example"


def test_a_dead_letter_queue_has_no_count_of_receipts(sns: Any, topic: str) -> None:
    policy = f'{{"deadLetterTargetArn": "{QUEUE}", "maxReceiveCount": 5}}'
    wanted = {
        "TopicArn": topic,
        "Protocol": "sqs",
        "Endpoint": QUEUE,
        "Attributes": {"RedrivePolicy": policy},
    }

    words = "Attributes Reason: RedrivePolicy: invalid JSON. Attribute maxReceiveCount is unknown."
    assert refusal(sns.subscribe, **wanted)[1] == f"Invalid parameter: {words}"


@pytest.mark.parametrize(("kind", "field"), [("String", "StringValue"), ("Binary", "BinaryValue")])
def test_an_attribute_of_a_message_is_not_empty(sns: Any, topic: str, kind: str, field: str) -> None:
    empty = {"a": {"DataType": kind, field: "" if kind == "String" else b""}}

    told = "must contain non-empty message attribute value for message attribute type"
    assert refusal(sns.publish, TopicArn=topic, Message="m", MessageAttributes=empty) == (
        "ParameterValueInvalid",
        f"The message attribute 'a' {told} '{kind}'.",
    )
