"""On-demand and Spot nodes are launched without a reservation."""

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import IMAGE, ZONE, new_stack, only
from tests.unit.ultracluster.capacity.three_sources import cluster

from ultracluster import Job, MultiNodeJob, OnDemand, Queue, Spot
from ultracluster.capacity.sources import check_source
from ultracluster_spec.findings import FindingsError, reject

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("percent", [0, 101])
def test_rejects_a_price_limit_above_on_demand_or_of_nothing(percent: int) -> None:
    with pytest.raises(FindingsError, match="UC4125"):
        reject(check_source(Spot(max_price_percent=percent), path="capacity"))
    assert Spot(max_price_percent=100).max_price_percent == 100
    assert Spot(max_price_percent=1).max_price_percent == 1


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
