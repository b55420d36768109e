"""Patterns of events that match what AWS sends, and alarms on metrics that are written, in their unit, and that can rise."""

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


METRICS: dict[str, Any] = {
    "Filter": {"Type": "AWS::Logs::MetricFilter", "Properties": {"LogGroupName": "jobs", "FilterPattern": "E", "MetricTransformations": [{"MetricNamespace": "Jobs", "MetricName": "Steps", "MetricValue": "1", "Unit": "Seconds"}]}},
    "Waits": {"Type": "AWS::Logs::MetricFilter", "Properties": {"LogGroupName": "jobs", "FilterPattern": "W", "MetricTransformations": [{"MetricNamespace": "Queue", "MetricName": "Oldest", "MetricValue": "1", "Unit": "Seconds", "Dimensions": [{"Key": "Queue", "Value": "$.queue"}]}]}},
    "Work": {"Type": "AWS::SQS::Queue", "Properties": {"RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 3}}},
    "Dead": {"Type": "AWS::SQS::Queue", "Properties": {"MessageRetentionPeriod": 1209600}},
    "Home": {"Type": "AWS::EFS::FileSystem", "Properties": {}},
    "Hourly": {"Type": "AWS::Lambda::Function", "Properties": {}},
    "Clock": {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 hour)", "Targets": [{"Id": "it", "Arn": {"Fn::GetAtt": ["Hourly", "Arn"]}}]}},
    "Fast": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE"}},
}  # fmt: skip


def codes_beside_metrics(*alarms: dict[str, Any]) -> set[str]:
    """Return the codes for alarms beside filters, queues and file systems."""
    given = {"Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 0, "ComparisonOperator": "GreaterThanThreshold"}  # fmt: skip
    body = METRICS | {
        f"Alarm{number}": {"Type": "AWS::CloudWatch::Alarm", "Properties": given | each}
        for number, each in enumerate(alarms)
    }
    return {each.code for each in check_templates([Source(name="it", body={"Resources": body})]).findings}


def of(namespace: str, name: str, **rest: Any) -> dict[str, Any]:
    """Return an alarm on a metric, with its dimensions as keywords in capitals."""
    named = [{"Name": key, "Value": value} for key, value in rest.items() if key[0].isupper() and key not in {"Unit", "Threshold"}]  # fmt: skip
    settings = {key: value for key, value in rest.items() if key in {"Unit", "Threshold"}}
    return {"Namespace": namespace, "MetricName": name} | ({"Dimensions": named} if named else {}) | settings


def queue(name: str) -> Any:
    return {"Fn::GetAtt": [name, "QueueName"]}


WATCHED: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("UC6465", of("Jobs", "Steps"), of("Job", "Steps")),
        ("UC6465", of("Jobs", "Steps", Unit="Seconds"), of("Jobs", "Steps", Unit="Count")),
        ("UC6465", of("Jobs", "Steps"), of("Jobs", "Steps", Node="a")),
        ("UC6465", of("Queue", "Oldest", Queue="q"), of("Queue", "Oldest")),
        ("UC6465", of("Queue", "Oldest", Queue="q", Unit="Seconds"), of("Queue", "Oldest", Queue="q", Unit="Count")),
        ("UC6465", of("Other", "Elsewhere"), of("Queues", "Oldest", Queue="q")),
        ("UC6465", of("AWS/FSx", "FreeDataStorageCapacity", FileSystemId={"Ref": "Fast"}), of("AWS/FSx", "FreeDataStorageCapacity", FileSystemId={"Ref": "Home"})),
        ("UC6465", of("AWS/EFS", "ClientConnections", FileSystemId={"Ref": "Home"}), of("AWS/EFS", "ClientConnections", FileSystemId={"Fn::GetAtt": ["Home", "Arn"]})),
        ("UC6465", of("AWS/SQS", "ApproximateAgeOfOldestMessage", QueueName=queue("Work"), Threshold=345599), of("AWS/SQS", "ApproximateAgeOfOldestMessage", QueueName=queue("Work"), Threshold=345600)),
        ("UC6465", of("AWS/SQS", "ApproximateAgeOfOldestMessage", QueueName=queue("Dead"), Threshold=345600), of("AWS/SQS", "ApproximateAgeOfOldestMessage", QueueName=queue("Dead"), Threshold=1209600)),
        ("UC6465", of("AWS/SQS", "ApproximateNumberOfMessagesVisible", QueueName=queue("Dead")), of("AWS/SQS", "ApproximateNumberOfMessagesVisible", QueueName=queue("Work"))),
        ("UC6465", of("AWS/SQS", "ApproximateNumberOfMessagesVisible", QueueName=queue("Work"), Threshold=500), of("AWS/SQS", "ApproximateNumberOfMessagesVisible", QueueName=queue("Work"), Threshold=1)),
        ("UC6465", of("AWS/Lambda", "Errors", FunctionName="do"), of("AWS/States", "Errors", FunctionName="do")),
        ("UC6465", of("AWS/Lambda", "Errors", FunctionName="do"), of("AWS/Lamdba", "Errors", FunctionName="do")),
        ("UC6465", of("AWS/Lambda", "Errors", FunctionName="do"), of("AWS/Lambda", "Errors", Function="do")),
        ("UC6465", of("AWS/Events", "FailedInvocations", RuleName="do"), of("AWS/Events", "FailedInvocations", FunctionName="do")),
        ("UC6465", of("AWS/Lambda", "Errors", FunctionName={"Ref": "Hourly"}, Threshold=3), of("AWS/Lambda", "Errors", FunctionName={"Ref": "Hourly"}, Threshold=4)),
    )  # fmt: skip


@pytest.mark.parametrize(("code", "right", "wrong"), WATCHED)
def test_an_alarm_watches_what_is_written(code: str, right: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert code not in codes_beside_metrics(right)
    assert code in codes_beside_metrics(wrong)
