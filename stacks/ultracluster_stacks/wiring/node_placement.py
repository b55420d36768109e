"""From `network.placement` of a cluster to what `UltraCluster` takes."""

from typing import Literal

from constructs import Construct

from ultracluster import ClusterPlacement
from ultracluster_stacks.config import ClusterConfig

__all__ = ["node_placement"]


def node_placement(scope: Construct, config: ClusterConfig) -> ClusterPlacement | Literal["auto", "none"]:
    """Bring the group that a cluster names, or hand on its choice.

    Args:
        scope: The stack of the nodes.
        config: The cluster.
    """
    match config.network.placement:
        case "auto" | "none" as choice:
            return choice
        case name:
            return ClusterPlacement(scope, "Placement", placement_group_name=name)
