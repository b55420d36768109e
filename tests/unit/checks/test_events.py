"""Rules of EventBridge that are enabled, on the bus of AWS, and wait for subjects and keys that events have."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

BODY: dict[str, Any] = {
    "Jobs": {"Type": "AWS::Batch::JobQueue", "Properties": {"Priority": 1, "JobQueueName": "training"}},
    "Bus": {"Type": "AWS::Events::EventBus", "Properties": {"Name": "training"}},
    "Build": {"Type": "AWS::CodeBuild::Project", "Properties": {"Name": "image"}},
}
QUEUE = "arn:aws:batch:us-east-2:111122223333:job-queue/"


def codes(
    kind: str, source: str, *, rule: dict[str, Any] | None = None, more: Any = None, **detail: Any
) -> set[str]:
    """Return the codes for a rule that waits for events of a type, beside more resources."""
    pattern = {"source": [source], "detail-type": [kind], "detail": detail}
    target = [{"Id": "topic", "Arn": "arn:aws:sns:us-east-2:111122223333:topic"}]
    properties = {"EventPattern": pattern, "Targets": target, **(rule or {})}
    body = BODY | (more or {}) | {"It": {"Type": "AWS::Events::Rule", "Properties": properties}}
    return {
        each.code
        for each in check_templates(
            [Source(name="it", body={"Resources": body}, region="us-east-2")]
        ).findings
    }


JOB = ("Batch Job State Change", "aws.batch")
ALARM = ("CloudWatch Alarm State Change", "aws.cloudwatch")
BUILD = ("CodeBuild Build State Change", "aws.codebuild")
OTHER_BUS = {"EventBusName": {"Ref": "Bus"}}


@pytest.mark.parametrize(
    ("event", "right", "wrong"),
    [
        (JOB, {"jobQueue": [QUEUE + "training"]}, {"jobQueue": [QUEUE + "research"]}),
        (JOB, {"jobQueue": [{"Ref": "Jobs"}]}, {"queue": [{"Ref": "Jobs"}]}),
        (JOB, {"$or": [{"status": ["FAILED"]}]}, {"Status": ["FAILED"]}),
        (ALARM, {"state": {"value": ["ALARM"]}}, {"state": {"value": ["FAILED"]}}),
        (BUILD, {"project-name": [{"Ref": "Build"}]}, {"project-name": [{"Ref": "Jobs"}]}),
        (BUILD, {"project-name": ["image"]}, {"project-name": ["images"]}),
        (JOB, {"rule": {"EventBusName": "default"}}, {"rule": OTHER_BUS}),
        (JOB, {"rule": {"State": "ENABLED"}}, {"rule": {"State": "DISABLED"}}),
        (("Own Event", "com.example"), {"rule": OTHER_BUS}, {"rule": {"EventPattern": {"region": ["us-west-2"]}}}),
    ],
)  # fmt: skip
def test_a_rule_waits_for_an_event_that_aws_sends_to_it(event: tuple[str, str], right: Any, wrong: Any) -> None:  # fmt: skip
    assert "UC6432" not in codes(*event, **right)
    assert "UC6432" in codes(*event, **wrong)


@pytest.mark.parametrize(
    ("sends", "found"),
    [
        ({}, True),
        ({"EventBridgeConfiguration": {}}, False),
        ({"EventBridgeConfiguration": {"EventBridgeEnabled": True}}, False),
        ({"EventBridgeConfiguration": {"EventBridgeEnabled": False}}, True),
    ],
)
def test_a_bucket_sends_its_events_to_eventbridge(sends: Any, found: bool) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"NotificationConfiguration": sends}}
    named = {"bucket": {"name": [{"Ref": "Bucket"}]}}

    assert ("UC6432" in codes("Object Created", "aws.s3", more={"Bucket": bucket}, **named)) is found
