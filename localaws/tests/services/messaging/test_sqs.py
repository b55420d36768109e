"""Attributes of queues."""

import json

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_queue_keeps_its_policy_when_another_attribute_is_set(local_aws: LocalAws) -> None:
    sqs = local_aws.client("sqs")
    statement = {"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    url = sqs.create_queue(QueueName="one")["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "90"})
    shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert json.loads(shown["Policy"])["Statement"] == [statement]
    assert shown["VisibilityTimeout"] == "90"


def test_times_of_a_queue_are_whole_seconds(local_aws: LocalAws) -> None:
    """API_GetQueueAttributes: seconds of the epoch."""
    sqs = local_aws.client("sqs")
    url = sqs.create_queue(QueueName="one")["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "90"})

    shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]

    assert shown["CreatedTimestamp"].isdigit()
    assert shown["LastModifiedTimestamp"].isdigit()
