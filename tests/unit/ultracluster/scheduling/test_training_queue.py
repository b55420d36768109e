import dataclasses

import aws_cdk as cdk
import pytest
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import (
    IMAGE_ID,
    block,
    network,
    new_stack,
    nodes,
    of_type,
    only,
    queue,
)
from tests.unit.ultracluster.scheduling.environment_resources import resources_of_environment

from ultracluster import (
    NodeGroup,
    OnDemand,
    Queue,
    Spot,
    TrainingQueue,
    WaitLimits,
)
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("max_nodes", [0, -1, 1001])
def test_rejects_a_number_of_nodes_that_no_job_can_have(stack: cdk.Stack, max_nodes: int) -> None:
    with pytest.raises(FindingsError, match="UC4101"):
        queue(stack, max_nodes=max_nodes)


def test_a_strategy_of_the_user_decides_how_the_environment_is_updated(stack: cdk.Stack) -> None:
    progressive = dataclasses.replace(block(), allocation_strategy="best-fit-progressive")
    queue(stack, capacity=progressive)
    assert only(stack, "AWS::Batch::ComputeEnvironment")["ReplaceComputeEnvironment"] is False
    other = new_stack()
    queue(other, capacity=OnDemand(allocation_strategy="best-fit"))
    assert only(other, "AWS::Batch::ComputeEnvironment")["ReplaceComputeEnvironment"] is True
    assert resources_of_environment(other)["AllocationStrategy"] == "BEST_FIT"


def test_idle_nodes_of_prepaid_capacity_stay_for_a_day(stack: cdk.Stack) -> None:
    queue(stack, capacity=block())
    assert resources_of_environment(stack)["ScalingPolicy"] == {"MinScaleDownDelayMinutes": 1440}
    for capacity in (None, OnDemand(), Spot()):
        other = new_stack()
        queue(other, capacity=capacity)
        assert "ScalingPolicy" not in resources_of_environment(other)


def test_the_queue_of_a_block_is_first_in_first_out_and_cancels_nothing_that_waits(stack: cdk.Stack) -> None:
    queue(stack, capacity=block())
    properties = only(stack, "AWS::Batch::JobQueue")
    assert "SchedulingPolicyArn" not in properties
    assert of_type(stack, "AWS::Batch::SchedulingPolicy") == []
    assert "JobStateTimeLimitActions" not in properties
    assert len(properties["ComputeEnvironmentOrder"]) == 1


def test_a_job_that_blocks_the_queue_ends_unless_the_queue_disables_it(stack: cdk.Stack) -> None:
    # Jobs waited in RUNNABLE without end: aws/aws-parallelcluster#2098, apache/airflow#38298.
    queue(stack)
    actions = only(stack, "AWS::Batch::JobQueue")["JobStateTimeLimitActions"]
    assert [each["Reason"].partition(":")[2] for each in actions] == [
        "INSUFFICIENT_INSTANCE_CAPACITY",
        "COMPUTE_ENVIRONMENT_MAX_RESOURCE",
        "JOB_RESOURCE_REQUIREMENT",
    ]
    other = new_stack()
    TrainingQueue(other, "Queue", nodes=nodes(other), max_nodes=1, settings=Queue(wait_limits=WaitLimits()))
    assert "JobStateTimeLimitActions" not in only(other, "AWS::Batch::JobQueue")


def test_a_queue_uses_the_selected_sources_in_order(stack: cdk.Stack) -> None:
    there = network(stack)
    groups = [
        NodeGroup(
            stack,
            f"Nodes{name}",
            network=there,
            instance_type="trn2.48xlarge",
            image_id=IMAGE_ID,
            capacity=OnDemand(name=name, max_nodes=1),
        )
        for name in ("one", "two", "three")
    ]
    queue = TrainingQueue(stack, "Queue", nodes=groups, settings=Queue(capacity=("three", "one")))
    assert [each.source_name for each in queue.environments] == ["three", "one"]
    assert [each.source_name for each in queue.dedicated_environments] == ["one", "two", "three"]
    with pytest.raises(FindingsError, match="UC6312"):
        TrainingQueue(stack, "Other", nodes=groups, settings=Queue(capacity=("four",)))


def test_a_queue_refuses_more_environments_than_batch_takes(stack: cdk.Stack) -> None:
    group = nodes(stack)
    first = TrainingQueue(stack, "First", nodes=group, max_nodes=1)
    with pytest.raises(FindingsError, match=r"UC4120: \S+: nodes: got 4 sources of capacity"):
        TrainingQueue(stack, "Second", environments=[*first.environments] * 4)
    with pytest.raises(FindingsError, match="UC4120"):
        TrainingQueue(stack, "Third")


def test_a_queue_requires_a_maximum_number_of_nodes(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4101.*maximum number of nodes is not set"):
        TrainingQueue(stack, "Queue", nodes=nodes(stack))


def test_a_rule_reports_a_blocked_queue(stack: cdk.Stack) -> None:
    training = queue(stack)
    training.on_blocked("Blocked", targets.SnsTopic(sns.Topic(stack, "Topic")))
    assert only(stack, "AWS::Events::Rule")["EventPattern"] == {
        "source": ["aws.batch"],
        "detail-type": ["Batch Job Queue Blocked"],
        "detail": {"jobQueue": [stack.resolve(training.job_queue_arn)]},
    }
