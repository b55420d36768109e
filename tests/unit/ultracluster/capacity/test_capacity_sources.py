"""Several sources of capacity behind one queue."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import (
    IMAGE,
    IMAGE_ID,
    RESERVATION,
    ZONE,
    block,
    network,
    new_stack,
    nodes,
    only,
)

from ultracluster import (
    BlockLifecycle,
    Capacity,
    CapacityBlock,
    CapacityReservation,
    ClusterPlacement,
    MultiNodeJob,
    NodeGroup,
    OnDemandCapacity,
    ReservationGroup,
    SpotCapacity,
    TrainingQueue,
    UltraCluster,
)
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth

OTHER = "cr-0fedcba9876543210"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
RESERVED = CapacityReservation.from_reservation_id(
    OTHER, zone_id=ZONE, name="reserved", placement_group_name="near"
)
SPILL = OnDemandCapacity(name="spill", max_nodes=2)


def cluster(stack: cdk.Stack, *sources: Capacity, **changes: Any) -> UltraCluster:
    given = {"instance_type": "trn2.48xlarge", "node_count": 4, "image_id": IMAGE_ID, "zone_id": ZONE}
    return UltraCluster(stack, "Cluster", **given | {"capacity": sources} | changes)


@pytest.fixture(scope="module")
def three() -> UltraCluster:
    """A block, a reservation and on-demand nodes, in this order."""
    return cluster(new_stack(), block(), RESERVED, SPILL)


@pytest.fixture(scope="module")
def resources(three: UltraCluster) -> Mapping[str, Any]:
    """The resources of its template."""
    template = assertions.Template.from_stack(cdk.Stack.of(three)).to_json()
    return dict(template["Resources"])


def environments(three: UltraCluster, resources: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Settings of the compute environments, in the order of the queue."""
    stack = cdk.Stack.of(three)
    ids = [stack.resolve(each.arn)["Fn::GetAtt"][0] for each in three.queue.environments]
    return [resources[each]["Properties"]["ComputeResources"] for each in ids]


def template_data(resources: Mapping[str, Any], environment: dict[str, Any]) -> dict[str, Any]:
    template = environment["LaunchTemplate"]["LaunchTemplateId"]["Ref"]
    return dict(resources[template]["Properties"]["LaunchTemplateData"])


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


def test_the_network_has_addresses_for_the_nodes_of_all_sources(stack: cdk.Stack) -> None:
    other = CapacityReservation.from_reservation_id(OTHER, zone_id=ZONE, name="other")
    # 150 nodes with 17 addresses each fit into a subnet of 4,096, 300 do not.
    cluster(stack, block(), other, node_count=150, nic_layout="all-efa")
    assert only(stack, "AWS::EC2::Subnet")["CidrBlock"].endswith("/19")


def variables(resources: Mapping[str, Any]) -> dict[str, Any]:
    """The environment of the function that looks after the block."""
    (found,) = (
        each["Properties"]["Environment"]["Variables"]
        for each in resources.values()
        if "UC_RESERVATION_ID" in each.get("Properties", {}).get("Environment", {}).get("Variables", {})
    )
    return dict(found)


def test_only_the_block_is_opened_and_closed(three: UltraCluster, resources: Mapping[str, Any]) -> None:
    given = variables(resources)
    first, *others = (cdk.Stack.of(three).resolve(each.arn) for each in three.queue.environments)
    assert given["UC_COMPUTE_ENVIRONMENT"] == first
    assert "UC_ADDITIONAL_JOB_QUEUES" not in given
    (updates,) = (
        statement
        for role in resources.values()
        if role["Type"] == "AWS::IAM::Role"
        for policy in role["Properties"].get("Policies", [])
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Action"] == "batch:UpdateComputeEnvironment"
    )
    assert updates["Resource"] == first
    assert len(others) == 2


def test_a_block_that_is_not_the_first_source_has_a_life_cycle() -> None:
    stack = new_stack()
    later = CapacityBlock.from_reservation_id(RESERVATION, zone_id=ZONE, name="later")
    whole = cluster(stack, OnDemandCapacity(), later)
    second = stack.resolve(whole.queue.environments[1].arn)
    found = assertions.Template.from_stack(stack).to_json()["Resources"]
    assert variables(found)["UC_COMPUTE_ENVIRONMENT"] == second
    assert whole.block_lifecycle is whole.block_lifecycles[0]


def logical_ids(*sources: Capacity) -> dict[str, set[str]]:
    stack = new_stack()
    cluster(stack, *sources)
    found = assertions.Template.from_stack(stack).to_json()["Resources"]
    kinds = {"AWS::Batch::ComputeEnvironment", "AWS::EC2::LaunchTemplate", "AWS::Batch::JobQueue"}
    return {kind: {name for name, resource in found.items() if resource["Type"] == kind} for kind in kinds}


def test_another_source_in_front_replaces_nothing() -> None:
    before = logical_ids(OnDemandCapacity())
    new = CapacityBlock.from_reservation_id(RESERVATION, zone_id=ZONE, name="december")
    after = logical_ids(new, OnDemandCapacity())
    for kind, ids in before.items():
        assert ids <= after[kind]
        assert len(after[kind] - ids) == (0 if kind == "AWS::Batch::JobQueue" else 1)


def test_on_demand_as_a_source_is_what_no_capacity_is() -> None:
    one, other = new_stack(), new_stack()
    cluster(one, OnDemandCapacity())
    cluster(other, capacity=None)
    assert assertions.Template.from_stack(one).to_json() == assertions.Template.from_stack(other).to_json()


def test_rejects_a_fourth_source(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4120: queue_sources: got 4 sources"):
        cluster(stack, block(), RESERVED, SPILL, OnDemandCapacity(name="more"))
    assert stack.node.try_find_child("Cluster") is None


def test_rejects_no_source(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC4120"):
        cluster(stack)


@pytest.mark.parametrize(
    ("names", "says"), [(("spill", "spill"), "two sources are called"), ((None, None), "have no name")]
)
def test_rejects_sources_with_the_same_name(
    stack: cdk.Stack, names: tuple[str | None, str | None], says: str
) -> None:
    with pytest.raises(FindingsError, match=f"UC4121.*{says}"):
        cluster(stack, *(OnDemandCapacity(name=each) for each in names))


def test_rejects_one_reservation_as_two_sources(stack: cdk.Stack) -> None:
    again = CapacityReservation.from_reservation_id(RESERVATION, zone_id=ZONE, name="again")
    with pytest.raises(FindingsError, match="UC4127"):
        cluster(stack, block(), again)


def test_a_queue_refuses_more_environments_than_batch_takes(stack: cdk.Stack) -> None:
    group = nodes(stack)
    first = TrainingQueue(stack, "First", nodes=group, max_nodes=1)
    with pytest.raises(FindingsError, match=r"UC4120: nodes: got 4 sources of capacity"):
        TrainingQueue(stack, "Second", environments=[*first.environments] * 4)
    with pytest.raises(FindingsError, match="UC4120"):
        TrainingQueue(stack, "Third")


def test_a_queue_refuses_nodes_that_a_job_cannot_take_for_each_other(stack: cdk.Stack) -> None:
    given = network(stack)
    one = NodeGroup(stack, "One", network=given, instance_type="trn2.48xlarge", image_id=IMAGE_ID)
    other = NodeGroup(
        stack,
        "Other",
        network=given,
        instance_type="trn1.32xlarge",
        image_id=IMAGE_ID,
        capacity=OnDemandCapacity(name="other"),
    )
    with pytest.raises(FindingsError, match="UC4122"):
        TrainingQueue(stack, "Queue", nodes=[one, other], max_nodes=1)


def test_a_queue_requires_a_maximum_number_of_nodes(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4101.*maximum number of nodes is not set"):
        TrainingQueue(stack, "Queue", nodes=nodes(stack))


@pytest.mark.parametrize("name", ["S", "s", "Spill", "9spill", "s" * 33, "spill ", "spill_1"])
def test_rejects_a_name_that_cannot_be_part_of_an_id(name: str) -> None:
    with pytest.raises(FindingsError, match="UC4123"):
        OnDemandCapacity(name=name)


@pytest.mark.parametrize("name", ["sp", "s" * 32, "spill-2"])
def test_accepts_a_short_name(name: str) -> None:
    assert OnDemandCapacity(name=name).name == name


@pytest.mark.parametrize("most", [0, 1001])
def test_rejects_a_limit_that_no_job_can_have(most: int) -> None:
    with pytest.raises(FindingsError, match="UC4101: max_nodes"):
        SpotCapacity(max_nodes=most)


def test_a_group_of_reservations_is_used_and_nothing_beyond_it(stack: cdk.Stack) -> None:
    source = ReservationGroup.from_resource_group_arn(GROUP, zone_id=ZONE)
    cluster(stack, source)
    data = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert data["CapacityReservationSpecification"] == {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": GROUP},
    }
    assert "InstanceMarketOptions" not in data


@pytest.mark.parametrize("arn", ["training", RESERVATION, GROUP + " ", GROUP.replace(":group/", ":groups/")])
def test_rejects_a_malformed_resource_group_arn(arn: str) -> None:
    with pytest.raises(FindingsError, match="UC4124"):
        ReservationGroup.from_resource_group_arn(arn, zone_id=ZONE)


def test_spot_nodes_are_asked_for_by_batch_and_not_by_the_template(stack: cdk.Stack) -> None:
    cluster(stack, SpotCapacity(max_price_percent=60), instance_type="trn1.32xlarge")
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
        SpotCapacity(max_price_percent=percent)
    assert SpotCapacity(max_price_percent=100).max_price_percent == 100
    assert SpotCapacity(max_price_percent=1).max_price_percent == 1


def test_rejects_a_multi_node_job_where_it_could_come_to_spot_nodes(stack: cdk.Stack) -> None:
    whole = cluster(stack, OnDemandCapacity(), SpotCapacity(name="spot"), instance_type="trn1.32xlarge")
    with pytest.raises(FindingsError, match="UC6308"):
        whole.add_multi_node_job("Train", image=IMAGE, command=["train.py"])
    safe = whole.add_queue("large", sources=[None])
    assert MultiNodeJob(stack, "Train", queue=safe, image=IMAGE, command=["train.py"]).queue is safe


def test_the_life_cycle_names_what_the_queue_launches_into_instead(stack: cdk.Stack) -> None:
    whole = cluster(stack, RESERVED, SPILL)
    with pytest.raises(FindingsError, match=f"UC4116.*launched into.*{OTHER}"):
        BlockLifecycle(stack, "Lifecycle", block=block(), queue=whole.queue)


def test_a_placement_group_applies_to_the_sources_that_can_use_it(stack: cdk.Stack) -> None:
    mine = ClusterPlacement(stack, "Mine", placement_group_name="mine")
    outside = CapacityReservation.from_reservation_id(
        "cr-00000000000000001", zone_id=ZONE, name="outside", max_nodes=1
    )
    whole = cluster(stack, block(), RESERVED, outside, SPILL, placement=mine, queue_sources=[None, "spill"])
    names = [each.placement.placement_group_name if each.placement else None for each in whole.node_groups]
    assert names == [None, "near", "mine", "mine"]


def test_a_reservation_can_be_made_inside_the_group(stack: cdk.Stack) -> None:
    placement = ClusterPlacement(stack, "Placement")
    *_, kind, name = stack.resolve(placement.placement_group_arn)["Fn::Join"][1]
    assert (kind, name) == (":placement-group/", stack.resolve(placement.placement_group_name))


@pytest.mark.parametrize(
    "bring",
    [
        lambda most: CapacityBlock.from_reservation_id(
            RESERVATION, zone_id=ZONE, name="reserved", max_nodes=most
        ),
        lambda most: CapacityReservation.from_reservation_id(
            RESERVATION, zone_id=ZONE, name="reserved", max_nodes=most
        ),
        lambda most: ReservationGroup.from_resource_group_arn(
            GROUP, zone_id=ZONE, name="reserved", max_nodes=most
        ),
    ],
)
def test_an_imported_source_has_its_own_name_and_number_of_nodes(
    stack: cdk.Stack, bring: Callable[[int], Capacity]
) -> None:
    cluster(stack, bring(2), node_count=4)
    assert only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]["MaxvCpus"] == 2 * 192
    assert stack.node.find_child("Cluster").node.try_find_child("Nodes-reserved") is not None
    with pytest.raises(FindingsError, match="UC4101: max_nodes"):
        bring(1001)


@pytest.mark.parametrize("group", [None, "near"])
def test_nodes_of_a_group_of_reservations_are_placed_where_these_were_made(
    stack: cdk.Stack, group: str | None
) -> None:
    cluster(
        stack,
        ReservationGroup.from_resource_group_arn(GROUP, zone_id=ZONE, placement_group_name=group),
    )
    resources = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert resources.get("PlacementGroup") == group


def test_unreserved_nodes_must_be_in_the_zone_of_the_network(stack: cdk.Stack) -> None:
    cluster(stack, OnDemandCapacity(zone_id=ZONE), zone_id=None)
    assert only(stack, "AWS::EC2::Subnet")["AvailabilityZoneId"] == ZONE
    with pytest.raises(FindingsError, match="UC4021"):
        cluster(new_stack(), OnDemandCapacity(zone_id="use2-az1"))


def test_spot_nodes_may_be_chosen_by_the_risk_of_losing_them_only(stack: cdk.Stack) -> None:
    source = SpotCapacity(allocation_strategy="capacity-optimized")
    cluster(stack, source, instance_type="trn1.32xlarge")
    resources = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert resources["AllocationStrategy"] == "SPOT_CAPACITY_OPTIMIZED"


def test_a_strategy_for_other_capacity_is_refused() -> None:
    with pytest.raises(FindingsError, match=r"UC4131.*'best-fit' for spot"):
        SpotCapacity(allocation_strategy="best-fit")
    with pytest.raises(FindingsError, match="UC4131"):
        dataclasses.replace(block(), allocation_strategy="capacity-optimized")
