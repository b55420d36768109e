"""Events of blocked queues are published only where the rollout asks for them."""

from collections.abc import Callable

import pytest
from tests.unit.ultracluster import builders

from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.wiring.blocked_queues import notify_of_blocked_queues

pytestmark = pytest.mark.synth


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
    configured: Callable[..., ClusterConfig], lines: list[str], rules: int
) -> None:
    stack = builders.new_stack()
    own = builders.queue(stack)
    nodes = own.nodes
    additional = {name: type(own)(stack, name, nodes=nodes, max_nodes=4) for name in ("other", "urgent")}

    notify_of_blocked_queues(stack, configured(*lines), own=own, additional=additional, kms_key=None)

    assert len(builders.of_type(stack, "AWS::Events::Rule")) == rules
    assert len(builders.of_type(stack, "AWS::SNS::Topic")) == (rules > 0)
