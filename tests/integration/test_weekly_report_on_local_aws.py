"""A deployed cluster on the local AWS reports on its block a week after the deployment, by its schedule alone."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE_ID

import ultracluster as uc
from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, NAMESPACE
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.seeding.seed import seed_capacity_block

pytestmark = pytest.mark.slow

REGION = "us-east-2"
BLOCK = "cr-0123456789abcdef0"


def test_the_topic_gets_the_report_of_the_running_block(local_aws: LocalAws, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    seed_capacity_block(
        reservation_id=BLOCK,
        instance_type="trn2.48xlarge",
        count=2,
        zone_id="use2-az3",
        start=now - timedelta(hours=1),
        end=now + timedelta(days=14),
        region=REGION,
    )
    app = cdk.App(outdir=str(tmp_path / "cdk.out"), analytics_reporting=False)
    stack = cdk.Stack(app, "Training", env=cdk.Environment(region=REGION, account="123456789012"))
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=2,
        image_id=IMAGE_ID,
        capacity=uc.CapacityBlock(reservation_id=BLOCK, zone_id="use2-az3"),
        cluster_name="pretrain",
        alarms=uc.Alarms(weekly_report=True, dashboard=False),
    )
    assert cluster.alarms is not None
    cdk.CfnOutput(stack, "TopicArn", value=cluster.alarms.topic.topic_arn)
    app.synth()
    assert {each.status for each in deploy_assembly(local_aws, tmp_path / "cdk.out")} == {"CREATE_COMPLETE"}
    (described,) = local_aws.client("cloudformation", REGION).describe_stacks(StackName="Training")["Stacks"]
    (topic,) = [each["OutputValue"] for each in described["Outputs"] if each["OutputKey"] == "TopicArn"]
    sqs = local_aws.client("sqs", REGION)
    queue = sqs.create_queue(QueueName="people")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    local_aws.client("sns", REGION).subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    points = [
        {
            "MetricName": "PaidNodes",
            "Dimensions": [{"Name": CLUSTER_DIMENSION, "Value": "pretrain"}],
            "Timestamp": now + timedelta(hours=hour),
            "Value": 2.0,
        }
        for hour in range(1, 25)
    ]
    local_aws.client("cloudwatch", REGION).put_metric_data(Namespace=NAMESPACE, MetricData=points)

    local_aws.event_settings.most_firings = 1
    local_aws.clock.advance(timedelta(days=7, minutes=1))

    answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
    said = [json.loads(each["Body"]) for each in answer.get("Messages", [])]
    (report,) = [
        each["Message"] for each in said if each["Subject"] == "pretrain: weekly report of its block"
    ]
    assert "USD for a node-hour, list price)" in report
    assert "no work" in report
