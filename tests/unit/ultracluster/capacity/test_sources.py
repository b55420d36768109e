"""The sources of a cluster are at most three, and each of its own."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import (
    IMAGE,
    RESERVATION,
    ZONE,
    block,
    new_stack,
    only,
)
from tests.unit.ultracluster.capacity.three_sources import OTHER, RESERVED, SPILL, cluster

from ultracluster import (
    Job,
    MultiNodeJob,
    OnDemand,
    Queue,
    Spot,
    UltraCluster,
)
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_rejects_a_fourth_source(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4120: \S+: queue.capacity: got 4 sources"):
        cluster(stack, block(), RESERVED, SPILL, OnDemand(name="more"))
    assert stack.node.try_find_child("Cluster") is None


@pytest.mark.parametrize(
    ("names", "says"), [(("spill", "spill"), "two sources are called"), ((None, None), "have no name")]
)
def test_rejects_sources_with_the_same_name(
    stack: cdk.Stack, names: tuple[str | None, str | None], says: str
) -> None:
    with pytest.raises(FindingsError, match=f"UC4121.*{says}"):
        cluster(stack, *(OnDemand(name=each) for each in names))


def test_refuses_more_nodes_than_a_block_has(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4102: \S+: node_count: got 65 nodes"):
        cluster(stack, block(), node_count=65)
    with pytest.raises(FindingsError, match=r"UC4102: \S+: capacity\[0\]\.max_nodes: got 65 nodes"):
        cluster(stack, dataclasses.replace(block(), max_nodes=65))
    assert stack.node.try_find_child("Cluster") is None


def test_refuses_capacity_in_which_the_type_is_not_sold(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4104: \S+: capacity\[0\]: trn1n.32xlarge is not sold as"):
        cluster(stack, block(), instance_type="trn1n.32xlarge")


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


def test_on_demand_as_a_source_is_what_no_capacity_is() -> None:
    one, other = new_stack(), new_stack()
    cluster(one, OnDemand())
    cluster(other, capacity=None)
    assert assertions.Template.from_stack(one).to_json() == assertions.Template.from_stack(other).to_json()


def test_spot_nodes_are_asked_for_by_batch_and_not_by_the_template(stack: cdk.Stack) -> None:
    cluster(stack, Spot(max_price_percent=60), instance_type="trn1.32xlarge")
    resources = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert (resources["Type"], resources["AllocationStrategy"], resources["BidPercentage"]) == (
        "SPOT",
        "SPOT_PRICE_CAPACITY_OPTIMIZED",
        60,
    )
    assert not {"SpotIamFleetRole", "PlacementGroup"} & resources.keys()
    assert "InstanceMarketOptions" not in only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]


def test_rejects_a_multi_node_job_where_it_could_come_to_spot_nodes(stack: cdk.Stack) -> None:
    whole = cluster(stack, OnDemand(), Spot(name="spot"), instance_type="trn1.32xlarge")
    with pytest.raises(FindingsError, match="UC6308"):
        whole.add_multi_node_job("Train", Job(image=IMAGE, command=("train.py",)))
    safe = whole.add_queue("large", Queue(capacity=("capacity",)))
    assert MultiNodeJob(stack, "Train", Job(image=IMAGE, command=("train.py",)), queue=safe).queue is safe


def test_unreserved_nodes_must_be_in_the_zone_of_the_network(stack: cdk.Stack) -> None:
    cluster(stack, OnDemand(zone_id=ZONE), zone_id=None)
    assert only(stack, "AWS::EC2::Subnet")["AvailabilityZoneId"] == ZONE
    with pytest.raises(FindingsError, match="UC4021"):
        cluster(new_stack(), OnDemand(zone_id="use2-az1"))
