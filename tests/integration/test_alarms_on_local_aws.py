"""A rollout with alarms on the local AWS: its watch runs on schedule, and its alarms notify its topic."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.stacks.conftest import ROOT, synthesize_rollout

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.seeding.seed import seed_capacity_block

pytestmark = pytest.mark.deep

REGION = "us-east-2"
MINUTE = timedelta(minutes=1)


def test_unused_paid_nodes_are_reported_in_time(local_aws: LocalAws, tmp_path: Path) -> None:
    text = (ROOT / "stacks/rollouts/quickstart.yaml").read_text()
    nodes = "        nodes: 4 "
    assert text.count(nodes) == 1
    rollout = tmp_path / "rollout.yaml"
    alarms = "{emails: [ml@example.com], idle_minutes: 3}"
    rollout.write_text(text.replace(nodes, f"        alarms: {alarms}\n{nodes}"))
    done = synthesize_rollout(rollout, tmp_path / "cdk.out")
    assert done.returncode == 0, done.stderr
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    seed_capacity_block(
        reservation_id="cr-0123456789abcdef0",
        instance_type="trn2.48xlarge",
        count=4,
        zone_id="use2-az3",
        start=now - timedelta(hours=1),
        end=now + timedelta(days=2),
        region=REGION,
    )
    deployed = deploy_assembly(local_aws, tmp_path / "cdk.out")
    assert {each.status for each in deployed} == {"CREATE_COMPLETE"}

    cloudwatch, sqs, sns = (local_aws.client(each, REGION) for each in ("cloudwatch", "sqs", "sns"))
    (unused,) = [
        each
        for each in cloudwatch.describe_alarms()["MetricAlarms"]
        if each.get("MetricName") == "UnusedNodes"
    ]
    (topic,) = unused["AlarmActions"]
    url = sqs.create_queue(QueueName="inbox")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)

    local_aws.event_settings.evaluate_alarms = True
    local_aws.clock.set(now + MINUTE)
    local_aws.clock.advance(5 * MINUTE)

    assert {each.error for each in local_aws.deliveries(REGION)} == {""}
    told = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
        for each in messages:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
            told.append(json.loads(json.loads(each["Body"])["Message"]))
    (message,) = [
        each for each in told if each["AlarmName"] == unused["AlarmName"] and each["NewStateValue"] == "ALARM"
    ]
    assert "Submit work" in message["AlarmDescription"]
    in_alarm = {
        each.get("MetricName", each["AlarmName"])
        for each in cloudwatch.describe_alarms(StateValue="ALARM")["MetricAlarms"]
    }
    assert "RunningNodes" not in in_alarm  # the watch looks
    assert "UnusedNodes" in in_alarm
