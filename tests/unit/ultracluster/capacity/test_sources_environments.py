"""Each source of a cluster is a compute environment of its own, tried in order."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import (
    RESERVATION,
)
from tests.unit.ultracluster.capacity.three_sources import OTHER

from ultracluster import (
    UltraCluster,
)

pytestmark = pytest.mark.slow


def environments(three: UltraCluster, resources: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Settings of the compute environments, in the order of the queue."""
    stack = cdk.Stack.of(three)
    ids = [stack.resolve(each.arn)["Fn::GetAtt"][0] for each in three.queue.environments]
    return [resources[each]["Properties"]["ComputeResources"] for each in ids]


def template_data(resources: Mapping[str, Any], environment: dict[str, Any]) -> dict[str, Any]:
    template = environment["LaunchTemplate"]["LaunchTemplateId"]["Ref"]
    return dict(resources[template]["Properties"]["LaunchTemplateData"])


def test_each_source_launches_into_its_own_capacity_and_no_other(
    three: UltraCluster, resources: Mapping[str, Any]
) -> None:
    data = [template_data(resources, each) for each in environments(three, resources)]
    targets = [each.get("CapacityReservationSpecification", {}) for each in data]
    assert targets == [
        {"CapacityReservationTarget": {"CapacityReservationId": RESERVATION}},
        {"CapacityReservationTarget": {"CapacityReservationId": OTHER}},
        {},
    ]
    assert [each.get("InstanceMarketOptions") for each in data] == [
        {"MarketType": "capacity-block"},
        None,
        None,
    ]


def test_a_source_has_no_more_nodes_than_its_own_limit(
    three: UltraCluster, resources: Mapping[str, Any]
) -> None:
    assert [each["MaxvCpus"] // 192 for each in environments(three, resources)] == [4, 4, 2]
    assert three.queue.max_nodes == 4


def test_each_source_gets_the_placement_that_it_can_use(
    three: UltraCluster, resources: Mapping[str, Any]
) -> None:
    groups = [each.get("PlacementGroup") for each in environments(three, resources)]
    assert groups[:2] == [None, "near"]
    assert groups[2]["Ref"].startswith("ClusterPlacementspill")


def test_the_queue_tries_the_sources_in_their_order(
    three: UltraCluster, resources: Mapping[str, Any]
) -> None:
    (queue,) = (each for each in resources.values() if each["Type"] == "AWS::Batch::JobQueue")
    shown = {
        each["Order"]: each["ComputeEnvironment"]["Fn::GetAtt"][0]
        for each in queue["Properties"]["ComputeEnvironmentOrder"]
    }
    stack = cdk.Stack.of(three)
    assert shown == {
        order: stack.resolve(each.arn)["Fn::GetAtt"][0]
        for order, each in enumerate(three.queue.environments, start=1)
    }
    assert [each.source_name for each in three.queue.environments] == [None, "reserved", "spill"]
