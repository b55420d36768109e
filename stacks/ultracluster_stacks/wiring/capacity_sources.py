"""Translate placement and queues of a cluster into arguments of `UltraCluster`."""

from collections.abc import Sequence
from typing import Literal

from constructs import Construct

from ultracluster import ClusterPlacement, TrainingQueue, UltraCluster
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.queue import AdditionalQueue


def node_placement(scope: Construct, config: Cluster) -> ClusterPlacement | Literal["auto", "none"]:
    """Import the placement group of a cluster, or return ``auto`` or ``none``."""
    match config.network.placement:
        case "auto" | "none" as choice:
            return choice
        case name:
            return ClusterPlacement(scope, "Placement", placement_group_name=name)


def define_queues(cluster: UltraCluster, queues: Sequence[AdditionalQueue]) -> dict[str, TrainingQueue]:
    """Add the additional queues of a cluster and return them by name."""
    return {queue.name: cluster.add_queue(queue.name, queue) for queue in queues}
