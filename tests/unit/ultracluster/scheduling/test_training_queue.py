import dataclasses
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import (
    IMAGE,
    IMAGE_ID,
    RESERVATION,
    block,
    network,
    new_stack,
    nodes,
    of_type,
    only,
    queue,
    ultra_cluster,
)
from tests.unit.ultracluster.scheduling.environment_resources import resources_of_environment, shown

from ultracluster import (
    Job,
    NodeGroup,
    OnDemand,
    Queue,
    Spot,
    TrainingQueue,
    UltraCluster,
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


def test_queues_share_the_same_compute_environments(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, small = team
    order = shown(cluster.queue, resources)["ComputeEnvironmentOrder"]
    assert shown(urgent, resources)["ComputeEnvironmentOrder"] == order
    assert shown(small, resources)["ComputeEnvironmentOrder"] == [{**order[1], "Order": 1}]
    assert sum(each["Type"] == "AWS::Batch::ComputeEnvironment" for each in resources.values()) == 2
    assert (urgent.max_nodes, small.max_nodes) == (4, 1)


def test_jobs_of_every_queue_of_the_block_are_notified_and_terminated(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, _ = team
    (variables,) = (
        each["Properties"]["Environment"]["Variables"]
        for each in resources.values()
        if "UC_RESERVATION_ID" in each.get("Properties", {}).get("Environment", {}).get("Variables", {})
    )
    stack = cdk.Stack.of(cluster)
    assert variables["UC_JOB_QUEUE"] == stack.resolve(cluster.queue.job_queue_arn)
    assert variables["UC_ADDITIONAL_JOB_QUEUES"] == stack.resolve(urgent.job_queue_arn)


def test_the_log_group_is_one_for_all(team: tuple[UltraCluster, TrainingQueue, TrainingQueue]) -> None:
    cluster, urgent, _ = team
    assert urgent.log_group is cluster.queue.log_group


def test_spot_nodes_get_a_separate_queue(stack: cdk.Stack) -> None:
    cluster = ultra_cluster(
        stack,
        instance_type="trn1.32xlarge",
        capacity=[OnDemand(), Spot(name="spot", max_nodes=8)],
        queue=Queue(capacity=("capacity",)),
    )
    spot = cluster.add_queue("spot", Queue(capacity=("spot", "capacity")))
    assert [each.source_name for each in cluster.queue.environments] == [None]
    assert [each.source_name for each in spot.environments] == ["spot", None]
    assert cluster.add_multi_node_job("Train", Job(image=IMAGE, command=("train.py",)))
    cluster.add_single_node_job("Evaluate", Job(image=IMAGE, command=("evaluate.py",)), queue=spot)
    tags = [each["Properties"].get("Tags") for each in of_type(stack, "AWS::Batch::JobDefinition")]
    cluster_tag = {"ultracluster:cluster": "Test"}
    assert tags == [cluster_tag, {"ultracluster:queue": stack.resolve(spot.job_queue_arn)} | cluster_tag]
    assert spot.has_spot
    assert not cluster.queue.has_spot


def test_the_main_queue_uses_every_block(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=f"UC6314.*{RESERVATION}"):
        ultra_cluster(stack, capacity=[block(), OnDemand(name="spill")], queue=Queue(capacity=("spill",)))
    assert stack.node.try_find_child("Cluster") is None


def test_the_command_line_finds_additional_queues_by_a_tag(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, _ = team
    assert shown(urgent, resources)["Tags"]["ultracluster:queue-name"] == "urgent"
    assert shown(cluster.queue, resources)["Tags"].keys() == {"ultracluster:cluster"}
