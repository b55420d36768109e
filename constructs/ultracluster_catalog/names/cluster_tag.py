"""The tag by which everything of a cluster is found and counted."""

from typing import Final

__all__ = ["CLUSTER_TAG"]

CLUSTER_TAG: Final = "ultracluster:cluster"
"""Key of the tag that clusters of rollout files put on all their resources; its value is the name of the cluster."""
