"""Rules about where a cluster stands: partition, Region, zone, and whether its type is offered there."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_catalog.places.zones import REGIONS, offered_zones, region_of_zone_id
from ultracluster_rules.network import check_zone_id
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.problem import Problem

__all__ = ["RULES"]


def partition_is_tested(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn about Regions outside the commercial partition."""
    if cluster.region not in REGIONS:
        yield Problem(
            loc=("region",),
            code="UC2103",
            problem=f"{cluster.region} lies in a partition that was never tested with these stacks",
        )


def zone_is_in_region(cluster: ClusterConfig) -> Iterator[Problem]:
    """A zone of another Region cannot hold the subnet."""
    if cluster.region not in REGIONS:
        return
    findings = check_zone_id(cluster.zone_id)
    for finding in findings:
        yield Problem.of(finding, ("zone_id",))
    if not findings and (region := region_of_zone_id(cluster.zone_id)) != cluster.region:
        yield Problem(
            loc=("zone_id",),
            code="UC3102",
            problem=f"zone {cluster.zone_id} is in {region}, not in {cluster.region}",
            remedy="Give the zone id that the reservation names, and the Region of that zone",
        )


def type_is_offered_in_zone(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn where EC2 listed no such type when the catalogue was made; offers come and go."""
    if cluster.region not in REGIONS or all(
        capacity.market_type == "capacity-block" for _, capacity in cluster.sources()
    ):
        return  # for blocks see capacity_rules: what is sold as a block is listed apart
    zones = offered_zones(cluster.instance_type)
    if cluster.zone_id not in zones and not any(zone_is_in_region(cluster)):
        yield Problem(
            loc=("zone_id",),
            code="UC4106",
            problem=f"{cluster.instance_type} is not known to be offered in {cluster.zone_id}",
            remedy=f"Known zones: {', '.join(zones) or 'none'}",
        )


RULES: Final[tuple[Callable[[ClusterConfig], Iterator[Problem]], ...]] = (
    partition_is_tested,
    zone_is_in_region,
    type_is_offered_in_zone,
)
"""The rules in the order in which their problems are found."""
