"""Rules about where a cluster stands: partition, Region, zone, and whether its type is offered there."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_catalog.places.zones import REGIONS, region_of_zone_id
from ultracluster_rules.machines import check_offered
from ultracluster_rules.network import check_zone_id, check_zone_region
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.problem import Problem

__all__ = ["RULES"]


def partition_is_tested(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn about Regions outside the commercial partition."""
    if cluster.region not in REGIONS:
        yield Problem.of(
            ("region",),
            code="UC2103",
            problem=f"{cluster.region} lies in a partition that was never tested with these stacks",
        )


def zone_is_in_region(cluster: ClusterConfig) -> Iterator[Problem]:
    """A zone of another Region cannot hold the subnet."""
    if cluster.region not in REGIONS:
        return
    findings = check_zone_id(cluster.zone_id)
    if not findings:
        findings = check_zone_region(
            cluster.zone_id, zone_region=region_of_zone_id(cluster.zone_id), region=cluster.region
        )
    for finding in findings:
        yield Problem(("zone_id",), finding)


def type_is_offered_in_zone(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn where EC2 listed no such type when the catalogue was made; offers come and go."""
    if cluster.region not in REGIONS or all(
        capacity.market_type == "capacity-block" for _, capacity in cluster.sources()
    ):
        return  # for blocks see capacity_rules: what is sold as a block is listed apart
    if not any(zone_is_in_region(cluster)):
        for finding in check_offered(cluster.instance_type, cluster.zone_id):
            yield Problem(("zone_id",), finding)


RULES: Final[tuple[Callable[[ClusterConfig], Iterator[Problem]], ...]] = (
    partition_is_tested,
    zone_is_in_region,
    type_is_offered_in_zone,
)
"""The rules in the order in which their problems are found."""
