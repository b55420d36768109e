"""The budget of a rollout notifies, and closes queues only where that was asked for."""

from collections.abc import Callable

import pytest
from tests.unit.ultracluster import builders

from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.wiring.cluster_budget import define_budget

pytestmark = pytest.mark.synth


def test_no_budget_is_defined_by_default(configured: Callable[..., ClusterConfig]) -> None:
    stack = builders.new_stack()
    define_budget(stack, configured(), queues=[], kms_key=None)

    assert builders.of_type(stack, "AWS::Budgets::Budget") == []


@pytest.mark.parametrize(("setting", "functions"), [("", 0), (", close_queues_at_percent: 90", 1)])
def test_queues_are_closed_only_at_a_percentage_of_the_rollout(
    configured: Callable[..., ClusterConfig], setting: str, functions: int
) -> None:
    stack = builders.new_stack()
    config = configured(f"budget: {{monthly_usd: 50000, emails: [a@example.com]{setting}}}")
    define_budget(stack, config, queues=[builders.queue(stack)], kms_key=None)

    budget = builders.only(stack, "AWS::Budgets::Budget")
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 50000, "Unit": "USD"}
    assert len(builders.of_type(stack, "AWS::Lambda::Function")) == functions


def test_an_existing_topic_is_notified(configured: Callable[..., ClusterConfig]) -> None:
    stack = builders.new_stack()
    topic = "arn:aws:sns:us-east-2:123456789012:costs"
    define_budget(
        stack, configured(f"budget: {{monthly_usd: 1, topic_arn: '{topic}'}}"), queues=[], kms_key=None
    )

    assert topic in str(builders.only(stack, "AWS::Budgets::Budget"))
    assert builders.of_type(stack, "AWS::SNS::Topic") == []
