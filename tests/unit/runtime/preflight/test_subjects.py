"""Clusters of an account by Region, their capacity, and the Region of global queries."""

from dataclasses import replace

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, bought, source

from ultracluster_runtime.preflight.subjects import Account


def test_clusters_are_grouped_by_region_in_their_order() -> None:
    clusters = tuple(
        replace(CLUSTER, name=name, region=region)
        for name, region in (("a", "us-east-2"), ("b", "us-west-2"), ("c", "us-east-2"))
    )
    regions = list(Account(clusters=clusters, qualifier="q").regions())

    assert [(each.key, [cluster.name for cluster in each.clusters]) for each in regions] == [
        (("us-east-2",), ["a", "c"]),
        (("us-west-2",), ["b"]),
    ]
    assert {each.qualifier for each in regions} == {"q"}


@pytest.mark.parametrize(
    ("region", "home"),
    [
        ("ap-south-1", "us-east-1"),
        ("cn-northwest-1", "cn-north-1"),
        ("us-gov-east-1", "us-gov-west-1"),
        ("us-iso-west-1", "us-iso-west-1"),
        ("eu-isoe-west-1", "eu-isoe-west-1"),
        ("eusc-de-east-1", "eusc-de-east-1"),
    ],
)
def test_global_queries_go_to_a_region_of_the_partition(region: str, home: str) -> None:
    assert Account(clusters=(replace(CLUSTER, region=region),)).home == home


GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/ours"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "cr-0123456789abcdef0"),
        ({"reservation_id": None, "market_type": "on-demand", "resource_group_arn": GROUP}, GROUP),
        ({"reservation_id": None, "market_type": "spot"}, "spot"),
    ],
)
def test_capacity_is_named_by_what_aws_has_for_it(changes: dict[str, str], name: str) -> None:
    capacity = source(bought(**changes))

    assert capacity.key == ("us-east-2", "train", name)
    assert (capacity.region, capacity.nodes) == ("us-east-2", 4)
