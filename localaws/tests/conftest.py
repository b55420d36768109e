"""What the tests of the local AWS share."""

import functools
import gc
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tests.alarms.watched_logs import REGION

from ultracluster_local import LocalAws

CAPABILITIES = ["CAPABILITY_NAMED_IAM"]


def pytest_configure() -> None:
    """Leave no credentials to the tests; pytest-socket lets them connect to this machine only."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ |= {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    gc.set_threshold(
        100_000, 50, 50
    )  # thousands of small tests make it look again at what stays for the whole run


def pytest_collection_finish() -> None:
    """Save botocore what it does again for each session and each call."""
    if botocore := sys.modules.get("botocore.session"):
        botocore.create_loader = functools.cache(botocore.create_loader)  # reads the description of a service
    gc.freeze()


@dataclass(frozen=True)
class Stacks:
    """Stacks of one local AWS, as a test wants to speak of them."""

    local: LocalAws
    region: str = "us-east-1"

    @property
    def api(self) -> Any:
        return self.local.client("cloudformation", self.region)

    def create(self, name: str, template: Mapping[str, Any] | str, **settings: Any) -> str:
        """Create a stack and return its state."""
        text = template if isinstance(template, str) else json.dumps(template)
        self.api.create_stack(StackName=name, TemplateBody=text, **{"Capabilities": CAPABILITIES} | settings)
        return self.status(name)

    def update(self, name: str, template: Mapping[str, Any], **settings: Any) -> str:
        """Update a stack and return its state."""
        text = json.dumps(template)
        self.api.update_stack(StackName=name, TemplateBody=text, **{"Capabilities": CAPABILITIES} | settings)
        return self.status(name)

    def delete(self, name: str) -> str:
        """Delete a stack and return its state."""
        stack_id = self.api.describe_stacks(StackName=name)["Stacks"][0]["StackId"]
        self.api.delete_stack(StackName=name)
        return self.status(stack_id)

    def describe(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.api.describe_stacks(StackName=name)["Stacks"][0]
        return found

    def status(self, name: str) -> str:
        return str(self.describe(name)["StackStatus"])

    def outputs(self, name: str) -> dict[str, str]:
        return {one["OutputKey"]: one["OutputValue"] for one in self.describe(name).get("Outputs", [])}

    def ids(self, name: str) -> dict[str, str]:
        resources = self.api.describe_stack_resources(StackName=name)["StackResources"]
        return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in resources}

    def events(self, name: str) -> list[tuple[str, str]]:
        """Return logical id and state of each event, oldest first."""
        pages = self.api.get_paginator("describe_stack_events").paginate(StackName=name)
        found = [one for page in pages for one in page["StackEvents"]]
        return [(one["LogicalResourceId"], one["ResourceStatus"]) for one in reversed(found)]

    def reasons(self, name: str) -> dict[str, str]:
        """Return what each failed resource said."""
        pages = self.api.get_paginator("describe_stack_events").paginate(StackName=name)
        return {
            one["LogicalResourceId"]: one.get("ResourceStatusReason", "")
            for page in pages
            for one in page["StackEvents"]
            if one["ResourceStatus"].endswith("_FAILED")
        }


@pytest.fixture(autouse=True)
def answers_have_the_form_of_their_models(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Let a test fail when the local AWS answered with a member or a value that botocore's model does not know."""
    if "local_aws_server" not in request.fixturenames:
        yield
        return
    from tests.answers import watch_answers

    objections = watch_answers(monkeypatch)
    yield
    assert objections == []


@pytest.fixture
def stacks(local_aws: LocalAws) -> Stacks:
    return Stacks(local_aws)


@pytest.fixture
def inbox(local_aws: LocalAws) -> Any:
    """A topic with a queue behind it; gives the topic and what reads the queue."""
    sns, sqs = local_aws.client("sns", REGION), local_aws.client("sqs", REGION)
    topic = sns.create_topic(Name="alarms")["TopicArn"]
    url = sqs.create_queue(QueueName="inbox")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)

    def read() -> list[tuple[str, str]]:
        found = []
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for each in messages:
                body = json.loads(json.loads(each["Body"])["Message"])
                found.append((body["AlarmName"], body["NewStateValue"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
        return found

    logs = local_aws.client("logs", REGION)
    logs.create_log_group(logGroupName="nodes")
    logs.create_log_stream(logGroupName="nodes", logStreamName="i-1")
    return topic, read
