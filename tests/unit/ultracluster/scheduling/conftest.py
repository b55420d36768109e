"""A cluster with two queues beside its own."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import (
    block,
    new_stack,
    ultra_cluster,
)

from ultracluster import (
    OnDemand,
    Queue,
    TrainingQueue,
    UltraCluster,
    WaitLimits,
)


@pytest.fixture(scope="module")
def team() -> tuple[UltraCluster, TrainingQueue, TrainingQueue]:
    """A cluster of a block and on-demand nodes, with two queues beside its own."""
    stack = new_stack()
    cluster = ultra_cluster(
        stack,
        capacity=[block(), OnDemand(name="spill", max_nodes=1)],
        queue=Queue(priority=5, shares={"research": 4, "eval": 3}, compute_reservation_percent=10),
    )
    urgent = cluster.add_queue("urgent", Queue(priority=10))
    small = cluster.add_queue(
        "small", Queue(capacity=("spill",), wait_limits=WaitLimits(insufficient_capacity=2))
    )
    return cluster, urgent, small


@pytest.fixture(scope="module")
def resources(team: tuple[UltraCluster, TrainingQueue, TrainingQueue]) -> Mapping[str, Any]:
    """The resources of its template."""
    return dict(assertions.Template.from_stack(cdk.Stack.of(team[0])).to_json()["Resources"])
