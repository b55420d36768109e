"""Functions that rules and schedules invoke: by these only, without a second attempt, and with an alarm on errors."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import of_type, only

from ultracluster._foundation.scheduled_function import ScheduledFunction

pytestmark = pytest.mark.slow


def function(stack: cdk.Stack, *, retries: bool = True) -> ScheduledFunction:
    return ScheduledFunction(
        stack,
        description="Looks.",
        role_description="Of the function.",
        policy_name="Look",
        statements=[iam.PolicyStatement(actions=["batch:DescribeJobs"], resources=["*"])],
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(event, context): pass"),
        environment={"CLUSTER": "c"},
        timeout=cdk.Duration.seconds(50),
        retries=retries,
    )


def test_its_role_writes_its_own_log_and_does_what_was_asked(stack: cdk.Stack) -> None:
    function(stack)

    (policy,) = only(stack, "AWS::IAM::Role")["Policies"]
    log, asked = [each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"]
    assert set(log["Action"]) <= {"logs:CreateLogStream", "logs:PutLogEvents"}
    assert "Log" in str(log["Resource"])
    assert asked["Action"] == "batch:DescribeJobs"
    assert only(stack, "AWS::Lambda::Function")["Architectures"] == ["arm64"]


@pytest.mark.parametrize(("retries", "configurations"), [(True, 0), (False, 1)])
def test_a_failed_invocation_is_tried_again_unless_that_is_useless(
    stack: cdk.Stack, *, retries: bool, configurations: int
) -> None:
    function(stack, retries=retries)

    found = of_type(stack, "AWS::Lambda::EventInvokeConfig")
    assert len(found) == configurations
    assert [one["Properties"]["MaximumRetryAttempts"] for one in found] == [0] * configurations


def test_a_rule_runs_every_minute_or_on_its_events_and_may_invoke_only_by_itself(stack: cdk.Stack) -> None:
    looks = function(stack)
    looks.add_rule("Minute", description="Every minute.")
    looks.add_rule("Events", description="On events.", event_pattern={"source": ["aws.batch"]})

    rules = {
        rule["Properties"]["Description"]: rule["Properties"] for rule in of_type(stack, "AWS::Events::Rule")
    }
    assert rules["Every minute."]["ScheduleExpression"] == "rate(1 minute)"
    assert "ScheduleExpression" not in rules["On events."]
    assert rules["On events."]["EventPattern"] == {"source": ["aws.batch"]}
    sources = [one["Properties"]["SourceArn"] for one in of_type(stack, "AWS::Lambda::Permission")]
    assert sources == [{"Fn::GetAtt": ["Minute", "Arn"]}, {"Fn::GetAtt": ["Events", "Arn"]}]


def test_errors_of_several_minutes_raise_an_alarm_that_may_publish(stack: cdk.Stack) -> None:
    function(stack).alarm_on_errors(
        "Alarm",
        description="Fails.",
        minutes=3,
        treat_missing_data="breaching",
        topic=sns.Topic(stack, "Topic"),
    )

    alarm = only(stack, "AWS::CloudWatch::Alarm")
    assert (alarm["MetricName"], alarm["EvaluationPeriods"], alarm["TreatMissingData"]) == (
        "Errors",
        3,
        "breaching",
    )
    policy = only(stack, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    assert "cloudwatch.amazonaws.com" in str(policy)
    assert "Alarm" in str(policy)
