"""Alarms on metrics that are written, in their unit, with their dimensions, and that can rise."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

BODY: dict[str, Any] = {
    "Filter": {"Type": "AWS::Logs::MetricFilter", "Properties": {"LogGroupName": "jobs", "FilterPattern": "E", "MetricTransformations": [{"MetricNamespace": "Jobs", "MetricName": "Steps", "MetricValue": "1", "Unit": "Seconds"}]}},
    "Waits": {"Type": "AWS::Logs::MetricFilter", "Properties": {"LogGroupName": "jobs", "FilterPattern": "W", "MetricTransformations": [{"MetricNamespace": "Queue", "MetricName": "Oldest", "MetricValue": "1", "Unit": "Seconds", "Dimensions": [{"Key": "Queue", "Value": "$.queue"}]}]}},
    "Work": {"Type": "AWS::SQS::Queue", "Properties": {"RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 3}}},
    "Dead": {"Type": "AWS::SQS::Queue", "Properties": {"MessageRetentionPeriod": 1209600}},
    "Home": {"Type": "AWS::EFS::FileSystem", "Properties": {}},
    "Hourly": {"Type": "AWS::Lambda::Function", "Properties": {}},
    "Clock": {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 hour)", "Targets": [{"Id": "it", "Arn": {"Fn::GetAtt": ["Hourly", "Arn"]}}]}},
    "Fast": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE"}},
}  # fmt: skip


def codes(*alarms: dict[str, Any]) -> set[str]:
    """Return the codes for alarms beside filters, queues and file systems."""
    given = {"Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 0, "ComparisonOperator": "GreaterThanThreshold"}  # fmt: skip
    body = BODY | {
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


BROKEN: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
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


@pytest.mark.parametrize(("code", "right", "wrong"), BROKEN)
def test_an_alarm_watches_what_is_written(code: str, right: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert code not in codes(right)
    assert code in codes(wrong)
