from decimal import Decimal
from typing import Any

import pytest

from ultracluster_stacks.cost import CostDifference, catalogue_prices, cost_differences
from ultracluster_stacks.plan import StackTemplate


def stack(
    *,
    nodes: int = 2,
    gib: int = 1200,
    tier: int = 125,
    endpoints: int = 9,
    region: str = "us-east-1",
    **more: Any,
) -> StackTemplate:
    def resource(resource_type: str, **properties: Any) -> dict[str, Any]:
        return {"Type": resource_type, "Properties": properties}

    launch = {"InstanceType": "trn1.32xlarge", "InstanceMarketOptions": {"MarketType": "capacity-block"}}
    compute = {
        "MaxvCpus": nodes * 128,
        "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}},
        "Type": "EC2",
    }
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": tier}
    resources = {
        "Nodes": resource("AWS::EC2::LaunchTemplate", LaunchTemplateData=launch),
        "Environment": resource("AWS::Batch::ComputeEnvironment", ComputeResources=compute),
        "Files": resource("AWS::FSx::FileSystem", StorageCapacity=gib, LustreConfiguration=lustre),
        **{
            f"Endpoint{n}": resource("AWS::EC2::VPCEndpoint", VpcEndpointType="Interface", SubnetIds=["s"])
            for n in range(endpoints)
        },
        **more,
    }
    return StackTemplate(cluster="a", name="a-all", region=region, template={"Resources": resources})


def difference(before: list[StackTemplate], after: list[StackTemplate]) -> CostDifference:
    (found,) = cost_differences(before, after, prices=catalogue_prices())
    return found


def test_more_nodes_cost_more_by_the_hour_and_nothing_while_they_do_not_run() -> None:
    found = difference([stack()], [stack(nodes=3)])

    assert found.node_hour.low == Decimal("9.532")
    assert found.idle_month.text() == "0.00"


def test_what_goes_is_taken_off_the_bill() -> None:
    found = difference([stack(gib=2400)], [stack(endpoints=8)])

    assert found.idle_month.text() == "-181.30"  # 1200 x 0.145 + 0.01 x 730


def test_what_stays_adds_nothing_even_where_its_price_is_not_known() -> None:
    found = difference([stack(tier=50)], [stack(tier=50, nodes=3)])

    assert found.node_hour.without == ()
    assert found.node_hour.low == Decimal("9.532")


@pytest.mark.parametrize(("before", "after"), [(125, 50), (50, 125)])
def test_a_change_from_or_to_an_unknown_price_is_named(before: int, after: int) -> None:
    found = difference([stack(tier=before)], [stack(tier=after, nodes=3)])

    assert found.node_hour.without == ("file system",)


def test_a_new_cluster_costs_all_that_it_has() -> None:
    found = difference([], [stack()])

    assert found.node_hour.text() == "19.39"  # 2 x 9.532 + 1200 x 0.145 / 730 + 9 x 0.01
    assert found.idle_month.text() == "239.70"  # 1200 x 0.145 + 9 x 0.01 x 730
    assert found.idle_month.without == ("endpoint data", "logs")


def test_a_cluster_that_was_removed_is_left_out() -> None:
    assert cost_differences([stack()], [], prices=catalogue_prices()) == ()
