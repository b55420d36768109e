"""Rules about the capacity of a cluster, at their places in a rollout file."""

from collections.abc import Iterator
from typing import Final

from ultracluster_spec.capacity import CLUSTER_RULES, RECORD_RULES
from ultracluster_spec.cluster import BLOCK_RULES, Cluster
from ultracluster_spec.rules import At, broken


def capacity_can_be_used(cluster: Cluster) -> Iterator[At]:
    """Refuse what EC2 and AWS Batch do not offer, and settings of another kind of capacity."""
    for at, capacity in cluster.sources():
        for place, finding in broken(RECORD_RULES, capacity):
            yield At.of((*at, *place), finding)


def capacity_fits_the_cluster(cluster: Cluster) -> Iterator[At]:
    """Refuse capacity that does not fit the instance type, the Region or the number of nodes."""
    for place, finding in broken((*CLUSTER_RULES, *BLOCK_RULES), cluster):
        yield At.of(place, finding)


RULES: Final = (
    capacity_can_be_used,
    capacity_fits_the_cluster,
)
