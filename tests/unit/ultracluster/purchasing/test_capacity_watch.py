"""The watch of capacity can look and tell, draws what it saw, and refuses an order that nothing can meet."""

import json
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match
from tests.unit.ultracluster.builders import STANDING_ORDER, allowed, only

from ultracluster import CapacityWatch
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def _watch(stack: cdk.Stack, **changes: Any) -> CapacityWatch:
    order = replace(STANDING_ORDER, **changes)
    return CapacityWatch(
        stack, "Watch", order=order, instance_type="trn2.48xlarge", emails=["ada@example.com"]
    )


def test_it_may_search_read_its_metrics_and_tell_and_nothing_else(stack: cdk.Stack) -> None:
    _watch(stack)

    given = [each["Action"] for each in allowed(stack, "Looks for a Capacity Block")]
    actions = {action for each in given for action in ([each] if isinstance(each, str) else each)}
    assert actions == {
        "cloudwatch:GetMetricData",
        "ec2:DescribeCapacityBlockOfferings",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        "sns:Publish",
    }


def test_it_looks_every_five_minutes_for_what_is_wanted(stack: cdk.Stack) -> None:
    _watch(stack, at_least=1)

    assert only(stack, "AWS::Events::Rule")["ScheduleExpression"] == "rate(5 minutes)"
    wanted = json.loads(only(stack, "AWS::Lambda::Function")["Environment"]["Variables"]["UC_STANDING_ORDER"])
    assert (wanted["counts"], wanted["hours"], wanted["regions"]) == ([4, 2, 1], 336, ["us-east-2"])


def test_the_list_price_is_a_line_in_the_picture(stack: cdk.Stack) -> None:
    _watch(stack)
    assert "35.7608" in json.dumps(only(stack, "AWS::CloudWatch::Dashboard"))


def test_without_a_list_price_there_is_no_line(stack: cdk.Stack) -> None:
    _watch(stack, regions=("eu-west-1",))
    assert "list price" not in json.dumps(only(stack, "AWS::CloudWatch::Dashboard"))


@pytest.mark.parametrize(
    ("told", "warns"),
    [({}, True), ({"emails": ["ada@example.com"]}, False), ({"topic": ...}, False)],
)
def test_a_watch_that_tells_no_one_is_warned_of(stack: cdk.Stack, told: dict[str, Any], warns: bool) -> None:
    topic = {"topic": sns.Topic(stack, "Topic")} if "topic" in told else {}
    CapacityWatch(stack, "Watch", order=STANDING_ORDER, instance_type="trn2.48xlarge", **told | topic)

    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("UC2250"))
    assert bool(found) == warns


def test_people_are_told_by_email(stack: cdk.Stack) -> None:
    _watch(stack)
    assert only(stack, "AWS::SNS::Subscription")["Endpoint"] == "ada@example.com"


@pytest.mark.parametrize(
    ("instance_type", "changes", "expected"),
    [
        (
            "trn2.48xlarge",
            {"max_usd": 48_062},
            "UC7151 max_usd",
        ),  # 4 nodes x 336 hours x 35.7608 are 48,062.52
        ("trn2.48xlarge", {"at_least": 5}, "UC7151 at_least"),
        ("trn2.48xlarge", {"days": 15}, "UC7101 days"),
        ("trn2.48xlarge", {"start_before": STANDING_ORDER.start_after.replace(day=1)}, "UC7151 start_before"),
        ("trn2.48xlarge", {"nodes": 65}, "UC7151 nodes"),
        ("trn2.48xlarge", {"regions": ("us-east2",)}, "UC2102 regions[0]"),
        ("trn2u.48xlarge", {}, "UC7151 nodes"),
        ("inf2.48xlarge", {}, "UC7151 nodes"),
    ],
)
def test_an_order_that_nothing_can_meet_is_refused(
    stack: cdk.Stack, instance_type: str, changes: dict[str, Any], expected: str
) -> None:
    order = replace(STANDING_ORDER, **changes)
    with pytest.raises(FindingsError) as refused:
        CapacityWatch(stack, "Watch", order=order, instance_type=instance_type)
    assert [f"{each.code} {each.path}" for each in refused.value.findings] == [expected]


def test_a_cap_at_the_list_price_is_taken(stack: cdk.Stack) -> None:
    _watch(stack, max_usd=48_063)
