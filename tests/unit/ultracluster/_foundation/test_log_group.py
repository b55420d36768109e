from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct
from tests.unit.ultracluster.builders import new_stack, of_type, queue

from ultracluster import TrainingQueue
from ultracluster._foundation.log_group import KeptLogGroup

pytestmark = pytest.mark.synth


def template(stack: cdk.Stack) -> dict[str, Any]:
    return dict(cdk.assertions.Template.from_stack(stack).to_json())


def test_the_template_is_the_same_when_somebody_asks_for_the_l2_log_group_kept_for_any_time() -> None:
    plain, asked = new_stack(), new_stack()
    for stack in (plain, asked):
        key = kms.Key(stack, "Key")
        for number, retention in enumerate(logs.RetentionDays):
            group = KeptLogGroup(
                Construct(stack, retention.name), retention=retention, kms_key=key if number % 2 else None
            )
            cdk.CfnOutput(stack, f"Name{number}", value=group.log_group_name)
            cdk.CfnOutput(stack, f"Arn{number}", value=group.log_group_arn)
            if stack is asked:
                assert group.log_group is group.log_group

    assert template(asked) == template(plain)
    assert len(of_type(plain, "AWS::Logs::LogGroup")) == len(logs.RetentionDays)


def test_a_log_group_of_ones_own_stays_as_it_is() -> None:
    stack = new_stack()
    own = logs.LogGroup(stack, "Own")
    nodes = queue(stack).nodes
    given = TrainingQueue(stack, "Second", nodes=nodes, max_nodes=1, log_group=own)

    assert given.log_group is own
    assert stack.resolve([given.log_group_name, given.log_group_arn]) == stack.resolve(
        [own.log_group_name, own.log_group_arn]
    )
