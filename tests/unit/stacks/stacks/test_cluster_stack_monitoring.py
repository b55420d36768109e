"""Alarms, budgets and blocked queues of a rollout notify whom it names."""

from collections.abc import Callable

import pytest
from tests.unit.ultracluster import builders

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.stacks.cluster_stack import define_budget, notify_of_blocked_queues

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("setting", "functions"), [("", 0), (", close_queues_at_percent: 90", 1)])
def test_queues_are_closed_only_at_a_percentage_of_the_rollout(
    configured: Callable[..., Cluster], setting: str, functions: int
) -> None:
    stack = builders.new_stack()
    config = configured(f"budget: {{monthly_usd: 50000, emails: [a@example.com]{setting}}}")
    define_budget(stack, config, queues=[builders.queue(stack)], kms_key=None)

    budget = builders.only(stack, "AWS::Budgets::Budget")
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 50000, "Unit": "USD"}
    assert len(builders.of_type(stack, "AWS::Lambda::Function")) == functions


def test_an_existing_topic_is_notified_of_costs(configured: Callable[..., Cluster]) -> None:
    stack = builders.new_stack()
    topic = "arn:aws:sns:us-east-2:123456789012:costs"
    define_budget(
        stack, configured(f"budget: {{monthly_usd: 1, topic_arn: '{topic}'}}"), queues=[], kms_key=None
    )

    assert topic in str(builders.only(stack, "AWS::Budgets::Budget"))
    assert builders.of_type(stack, "AWS::SNS::Topic") == []


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        ([], 0),
        (["queue: {notify_blocked: true}"], 1),
        (["additional_queues: [{name: other}, {name: urgent, notify_blocked: true}]"], 1),
        (["queue: {notify_blocked: true}", "additional_queues: [{name: urgent, notify_blocked: true}]"], 2),
    ],
)
def test_each_queue_with_the_setting_publishes_to_one_topic(
    configured: Callable[..., Cluster], lines: list[str], rules: int
) -> None:
    stack = builders.new_stack()
    own = builders.queue(stack)
    nodes = own.nodes
    additional = {name: type(own)(stack, name, nodes=nodes, max_nodes=4) for name in ("other", "urgent")}

    notify_of_blocked_queues(stack, configured(*lines), own=own, additional=additional, kms_key=None)

    assert len(builders.of_type(stack, "AWS::Events::Rule")) == rules
    assert len(builders.of_type(stack, "AWS::SNS::Topic")) == (rules > 0)
