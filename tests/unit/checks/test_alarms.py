"""Patterns of events that match what AWS sends, and alarms that watch something."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

QUEUES: dict[str, Any] = {
    "Dead": {"Type": "AWS::SQS::Queue"},
    "Do": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "do"}},
    "Jobs": {"Type": "AWS::Batch::JobQueue", "Properties": {"Priority": 1}},
    "Place": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"Type": "UNMANAGED"}},
    "Quiet": {"Type": "AWS::S3::Bucket"},
    "Loud": {
        "Type": "AWS::S3::Bucket",
        "Properties": {"NotificationConfiguration": {"EventBridgeConfiguration": {}}},
    },
}


def pattern(kind: str, source: str, **detail: Any) -> dict[str, Any]:
    event = {"source": [source], "detail-type": [kind], "detail": detail}
    return {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": event}}


def alarm(metric: str, dimension: str, value: Any, **more: Any) -> dict[str, Any]:
    given = {
        "Namespace": "AWS/Lambda",
        "MetricName": metric,
        "Dimensions": [{"Name": dimension, "Value": value}],
    }
    given |= {
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "AlarmActions": ["topic"],
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": given | more}


FALLS = {"Namespace": "Training", "Statistic": "SampleCount", "ComparisonOperator": "LessThanThreshold"}
JOB = "Batch Job State Change"
DEAD = {"Fn::GetAtt": ["Dead", "QueueName"]}
BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6432", "another source", pattern(JOB, "aws.ecs")),
    ("UC6432", "a misspelt type", pattern("Batch Job State Changed", "aws.batch")),
    ("UC6432", "a state of no job", pattern(JOB, "aws.batch", status=["STOPPED"])),
    ("UC6432", "the name of a queue", pattern(JOB, "aws.batch", jobQueue=["training"])),
    ("UC6432", "an environment as queue", pattern(JOB, "aws.batch", jobQueue=[{"Ref": "Place"}])),
    ("UC6432", "a quiet bucket", pattern("Object Created", "aws.s3", bucket={"name": [{"Ref": "Quiet"}]})),
    ("UC6429", "the URL of a queue", alarm("Invocations", "QueueName", {"Ref": "Dead"})),
    ("UC6429", "the ARN of a function", alarm("Errors", "FunctionName", {"Fn::GetAtt": ["Do", "Arn"]})),
    ("UC6429", "a queue as function", alarm("Errors", "FunctionName", DEAD)),
    ("UC6429", "a function of no template", alarm("Errors", "FunctionName", "did")),
    ("UC6429", "a misspelt dimension", alarm("Errors", "Functionname", "do")),
    ("UC6429", "a misspelt metric", alarm("Error", "FunctionName", "do")),
    ("UC6429", "no failures", alarm("Errors", "FunctionName", "do", ComparisonOperator="LessThanThreshold")),
    ("UC6429", "no work", alarm("StepSeconds", "Run", "a", **FALLS, TreatMissingData="notBreaching")),
    (
        "UC6432",
        "a state of no build",
        pattern("CodeBuild Build State Change", "aws.codebuild", **{"build-status": ["failed"]}),
    ),
    ("UC6429", "any failures", alarm("Errors", "FunctionName", "do", Threshold=0)),
)
KEPT: tuple[dict[str, Any], ...] = (
    alarm("StepSeconds", "Run", "a", **FALLS, TreatMissingData="breaching"),
    alarm(
        "Free", "Id", "a", **FALLS | {"Statistic": "Sum", "Threshold": 100}, TreatMissingData="notBreaching"
    ),
    pattern(JOB, "aws.batch", status=["FAILED"], jobQueue=[{"Ref": "Jobs"}]),
    pattern("Our Own Event", "com.example"),
    pattern("Object Created", "aws.s3", bucket={"name": [{"Ref": "Loud"}]}),
    alarm("Errors", "FunctionName", {"Ref": "Do"}),
    alarm("Errors", "FunctionName", "do", ComparisonOperator="GreaterThanThreshold", Threshold=0),
    alarm("ApproximateNumberOfMessagesVisible", "QueueName", DEAD, Namespace="AWS/SQS"),
    alarm("Error", "Function", "do", Namespace="Ours"),
)


def codes(resource: dict[str, Any]) -> set[str]:
    report = check_templates([Source(name="it", body={"Resources": {**QUEUES, "It": resource}})])
    return {each.code for each in report.findings}


@pytest.mark.parametrize(("code", "name", "resource"), BROKEN)
def test_what_never_happens_breaks_the_rule(code: str, name: str, resource: dict[str, Any]) -> None:
    assert code in codes(resource), name


@pytest.mark.parametrize("resource", KEPT)
def test_what_happens_keeps_the_rules(resource: dict[str, Any]) -> None:
    assert codes(resource) & {"UC6429", "UC6432"} == set()
