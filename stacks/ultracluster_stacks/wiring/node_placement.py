"""Translate `network.placement` of a cluster into the argument of `UltraCluster`."""

from typing import Literal

from constructs import Construct

from ultracluster import ClusterPlacement
from ultracluster_stacks.config import ClusterConfig


def node_placement(scope: Construct, config: ClusterConfig) -> ClusterPlacement | Literal["auto", "none"]:
    """Import the placement group of a cluster, or return ``auto`` or ``none``."""
    match config.network.placement:
        case "auto" | "none" as choice:
            return choice
        case name:
            return ClusterPlacement(scope, "Placement", placement_group_name=name)
