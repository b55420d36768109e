import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template
from tests.unit.ultracluster.builders import block, ultra_cluster

import ultracluster as uc
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def cluster(stack: cdk.Stack, capacity: uc.CapacityBlock | uc.OnDemand, **alarms: bool) -> uc.UltraCluster:
    return ultra_cluster(stack, "Train", capacity=capacity, alarms=uc.Alarms(**alarms))


def test_a_function_reads_the_metrics_every_week_and_may_tell_only_its_topic(stack: cdk.Stack) -> None:
    made = cluster(stack, block(), weekly_report=True)
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::Events::Rule", {"ScheduleExpression": "rate(10080 minutes)"})
    assert made.alarms is not None
    topic = stack.resolve(made.alarms.topic.topic_arn)
    template.has_resource_properties(
        "AWS::Lambda::Function",
        {
            "Handler": "ultracluster_runtime.watch.weekly_report.handler",
            "Environment": {"Variables": Match.object_like({"UC_TOPIC_ARN": topic})},
        },
    )
    (policy,) = [
        each
        for role in template.find_resources("AWS::IAM::Role").values()
        for each in role["Properties"].get("Policies", [])
        if each["PolicyName"] == "Report"
    ]
    allowed = {
        statement["Sid"]: (statement["Action"], statement["Resource"])
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow" and "Sid" in statement
    }
    assert allowed["Tell"] == ("sns:Publish", topic)
    assert allowed["Look"] == (
        ["cloudwatch:GetMetricData", "cloudwatch:ListMetrics", "ec2:DescribeCapacityReservations"],
        "*",
    )


def test_no_function_reports_unless_asked_for(stack: cdk.Stack) -> None:
    cluster(stack, block())
    Template.from_stack(stack).resource_properties_count_is(
        "AWS::Events::Rule", {"ScheduleExpression": "rate(10080 minutes)"}, 0
    )


@pytest.mark.parametrize(
    ("capacity", "alarms", "problem"),
    [
        (uc.OnDemand(), {}, "the cluster has no Capacity Block"),
        (block(), {"enabled": False}, "without alarms, the cluster has no metrics"),
    ],
)
def test_rejects_a_report_without_a_block_or_metrics(
    stack: cdk.Stack, capacity: uc.CapacityBlock | uc.OnDemand, alarms: dict[str, bool], problem: str
) -> None:
    with pytest.raises(FindingsError, match=rf"UC2264: \S+: alarms.weekly_report: {problem}"):
        cluster(stack, capacity, weekly_report=True, **alarms)
