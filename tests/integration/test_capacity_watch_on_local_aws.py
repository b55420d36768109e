"""A deployed watch of capacity on the local AWS: it tells of an offering that appears, and of a lower price, once each."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import STANDING_ORDER

from ultracluster import CapacityWatch
from ultracluster_catalog.observability.metrics import OFFERINGS_METRIC, OFFERINGS_NAMESPACE
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly

pytestmark = pytest.mark.slow

REGION = "us-east-2"
PAUSE = timedelta(minutes=5)


def _deploy(local: LocalAws, folder: Path) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    order = replace(
        STANDING_ORDER,
        start_after=now,
        start_before=now + timedelta(days=30),
        until=now + timedelta(days=30),
        at_least=2,
    )
    app = cdk.App(outdir=str(folder), analytics_reporting=False)
    stack = cdk.Stack(app, "Capacity", env=cdk.Environment(region=REGION, account="123456789012"))
    CapacityWatch(stack, "Watch", order=order, instance_type="trn2.48xlarge")
    app.synth()
    assert {each.status for each in deploy_assembly(local, folder)} == {"CREATE_COMPLETE"}


def _messages(local: LocalAws) -> list[str]:
    """Return what the queue of a subscriber got since the last time."""
    sqs = local.client("sqs", REGION)
    (queue,) = sqs.list_queues()["QueueUrls"]
    answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
    return [json.loads(each["Body"])["Message"] for each in answer.get("Messages", [])]


def test_a_watch_tells_of_capacity_that_appears_and_of_a_lower_price(
    local_aws: LocalAws, tmp_path: Path
) -> None:
    market = local_aws.capacity_market(REGION)
    market.sold_out = True
    market.price_per_node_hour = Decimal(30)
    _deploy(local_aws, tmp_path / "cdk.out")
    (topic,) = local_aws.client("sns", REGION).list_topics()["Topics"]
    sqs = local_aws.client("sqs", REGION)
    queue = sqs.create_queue(QueueName="people")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    local_aws.client("sns", REGION).subscribe(TopicArn=topic["TopicArn"], Protocol="sqs", Endpoint=arn)

    local_aws.clock.advance(PAUSE)
    assert _messages(local_aws) == []

    market.sold_out = False
    local_aws.clock.advance(PAUSE)
    (appeared,) = _messages(local_aws)
    assert appeared.startswith("Capacity is on offer:\n4 x trn2.48xlarge in us-east-2")
    assert "ultracluster capacity buy ORDER --wait" in appeared

    local_aws.clock.advance(PAUSE)
    assert _messages(local_aws) == []

    market.price_per_node_hour = Decimal(20)
    local_aws.clock.advance(PAUSE)
    (fell,) = _messages(local_aws)
    assert fell.startswith("The price fell from ")

    assert {each.error for each in local_aws.deliveries(REGION)} == {""}
    found = local_aws.client("cloudwatch", REGION).list_metrics(Namespace=OFFERINGS_NAMESPACE)["Metrics"]
    assert OFFERINGS_METRIC in {each["MetricName"] for each in found}
    reservations = local_aws.client("ec2", REGION).describe_capacity_reservations()["CapacityReservations"]
    assert reservations == []  # it cannot buy
