"""Task definitions of Fargate, and launch types."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

CONTAINERS = [{"name": "c", "image": "busybox", "memory": 128}]
FARGATE = {
    "family": "f",
    "networkMode": "awsvpc",
    "requiresCompatibilities": ["FARGATE"],
    "cpu": "256",
    "memory": "512",
    "containerDefinitions": CONTAINERS,
}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ""),
        ({"cpu": "4096", "memory": "30720"}, ""),
        ({"cpu": "256", "memory": "4096"}, "No Fargate configuration exists"),
        ({"cpu": "300"}, "No Fargate configuration exists"),
        ({"networkMode": "bridge"}, "only supports network mode 'awsvpc'"),
        ({"cpu": ""}, "requires that 'cpu' be defined"),
        ({"requiresCompatibilities": ["EC2"], "networkMode": "bridge"}, ""),
    ],
)
def test_fargate_takes_some_task_definitions(
    local_aws: LocalAws, settings: dict[str, Any], words: str
) -> None:
    register = local_aws.client("ecs").register_task_definition
    if words:
        assert words in refusal(register, **FARGATE | settings)[1]
    else:
        register(**FARGATE | settings)


def test_a_task_runs_where_its_definition_says(local_aws: LocalAws) -> None:
    ecs = local_aws.client("ecs")
    ecs.create_cluster(clusterName="k")
    ecs.register_task_definition(family="e", requiresCompatibilities=["EC2"], containerDefinitions=CONTAINERS)
    ecs.register_task_definition(**FARGATE)
    asked = {"cluster": "k", "serviceName": "s", "launchType": "FARGATE"}

    assert (
        "does not support launch_type FARGATE"
        in refusal(ecs.create_service, taskDefinition="e:1", **asked)[1]
    )
    ecs.create_service(taskDefinition="f", **asked)
