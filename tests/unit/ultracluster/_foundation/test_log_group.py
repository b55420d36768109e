import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct
from tests.unit.ultracluster.builders import new_stack, of_type, queue

from ultracluster import TrainingQueue
from ultracluster._foundation.log_group import RetainedLogGroup

pytestmark = pytest.mark.slow


def test_a_log_group_is_retained_and_kept_for_three_months_unless_asked_otherwise() -> None:
    stack = new_stack()
    key = kms.Key(stack, "Key")
    RetainedLogGroup(Construct(stack, "Default"))
    RetainedLogGroup(Construct(stack, "Chosen"), retention=logs.RetentionDays.INFINITE, kms_key=key)

    default, chosen = of_type(stack, "AWS::Logs::LogGroup")
    assert {default["DeletionPolicy"], chosen["DeletionPolicy"]} == {"Retain"}
    assert default["Properties"] == {"RetentionInDays": 90}
    assert chosen["Properties"] == {"KmsKeyId": stack.resolve(key.key_arn)}


def test_an_existing_log_group_is_not_changed() -> None:
    stack = new_stack()
    own = logs.LogGroup(stack, "Own")
    nodes = queue(stack).nodes
    given = TrainingQueue(stack, "Second", nodes=nodes, max_nodes=1, log_group=own)

    assert given.log_group is own
    assert stack.resolve([given.log_group_name, given.log_group_arn]) == stack.resolve(
        [own.log_group_name, own.log_group_arn]
    )
