from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, RESERVATION, ZONE, block, of_type
from tests.unit.ultracluster.scheduling.team_queues import shown

from ultracluster import Job, OnDemand, Queue, Spot, TrainingQueue, UltraCluster
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


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
    cluster = UltraCluster(
        stack,
        "Cluster",
        instance_type="trn1.32xlarge",
        node_count=2,
        image_id=IMAGE_ID,
        zone_id=ZONE,
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
        UltraCluster(
            stack,
            "Cluster",
            instance_type="trn2.48xlarge",
            node_count=2,
            image_id=IMAGE_ID,
            capacity=[block(), OnDemand(name="spill")],
            queue=Queue(capacity=("spill",)),
        )
    assert stack.node.try_find_child("Cluster") is None


def test_the_command_line_finds_additional_queues_by_a_tag(
    team: tuple[UltraCluster, TrainingQueue, TrainingQueue], resources: Mapping[str, Any]
) -> None:
    cluster, urgent, _ = team
    assert shown(urgent, resources)["Tags"]["ultracluster:queue-name"] == "urgent"
    assert shown(cluster.queue, resources)["Tags"].keys() == {"ultracluster:cluster"}
