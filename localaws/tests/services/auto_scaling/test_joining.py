"""Nodes join the ECS cluster that their user data names, and leave it with their instance."""

import json
from typing import Any

import pytest
from tests.events.event_rules import REGION
from tests.services.auto_scaling.groups_of_nodes import GROUP, create, nodes, template
from tests.services.ec2.blocks_and_instances import START

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def environment(local: LocalAws) -> str:
    """Create an unmanaged environment; return the ARN of its ECS cluster."""
    assumed = {"Effect": "Allow", "Principal": {"Service": "batch.amazonaws.com"}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [assumed]})
    role = local.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    batch = local.client("batch", REGION)
    batch.create_compute_environment(computeEnvironmentName="fleet", type="UNMANAGED", serviceRole=role)
    found = batch.describe_compute_environments(computeEnvironments=["fleet"])["computeEnvironments"][0]
    return str(found["ecsClusterArn"])


def joined(local: LocalAws, cluster: str) -> list[dict[str, Any]]:
    ecs = local.client("ecs", REGION)
    arns = ecs.list_container_instances(cluster=cluster)["containerInstanceArns"]
    if not arns:
        return []
    found: list[dict[str, Any]] = ecs.describe_container_instances(cluster=cluster, containerInstances=arns)[
        "containerInstances"
    ]
    return found


def test_cluster_of_an_environment_is_there_and_empty(local: LocalAws) -> None:
    cluster = environment(local)
    (found,) = local.client("ecs", REGION).describe_clusters(clusters=[cluster])["clusters"]
    assert (found["status"], found["registeredContainerInstancesCount"]) == ("ACTIVE", 0)


def test_nodes_join_the_cluster_of_their_user_data_and_leave_with_their_instance(local: LocalAws) -> None:
    cluster = environment(local)
    user_data = f'#!/bin/bash\necho "ECS_CLUSTER={cluster}" >> /etc/ecs/ecs.config\n'
    client = create(local, template(local, user_data=user_data))
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=2)
    assert {one["ec2InstanceId"] for one in joined(local, cluster)} == set(nodes(client))
    resources = {one["name"]: one["integerValue"] for one in joined(local, cluster)[0]["registeredResources"]}
    assert resources["CPU"] == 192 * 1024
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=0)
    assert joined(local, cluster) == []
    (found,) = local.client("ecs", REGION).describe_clusters(clusters=[cluster])["clusters"]
    assert found["registeredContainerInstancesCount"] == 0
