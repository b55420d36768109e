"""Requirements of a rollout: its Regions, sources and the Region of global queries."""

from dataclasses import replace

import pytest
from tests.unit.runtime.preflight.preflight_requirements import CLUSTER, SOURCE, bought

from ultracluster_runtime.preflight.requirements import RegionRequirements, RolloutRequirements


def test_clusters_are_grouped_by_region_in_their_order() -> None:
    clusters = tuple(
        replace(CLUSTER, name=name, region=region)
        for name, region in (("a", "us-east-2"), ("b", "us-west-2"), ("c", "us-east-2"))
    )
    regions = list(RolloutRequirements(clusters=clusters, qualifier="q").regions())

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
    assert RolloutRequirements(clusters=(replace(CLUSTER, region=region),)).home == home


def test_sources_of_a_region_include_those_for_compilation() -> None:
    compiler = replace(bought(market_type="on-demand"), key=("us-east-2", "train", "on-demand"))
    cluster = replace(CLUSTER, compilers=(compiler,))

    region = RegionRequirements(region="us-east-2", clusters=(cluster, CLUSTER), qualifier="q")
    assert region.sources == (SOURCE, compiler, SOURCE)


def test_vcpus_of_a_source_are_those_of_all_nodes() -> None:
    assert SOURCE.all_vcpus == 4 * 192
    assert SOURCE.region == "us-east-2"
