"""The tag that identifies the resources of a cluster."""

from typing import Final

__all__ = ["CLUSTER_TAG"]

CLUSTER_TAG: Final = "ultracluster:cluster"
"""Key of the tag on all resources of a cluster in a rollout file; its value is the name of the cluster."""
