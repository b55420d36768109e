"""Tags that identify the resources of a cluster and the nodes of a reservation."""

from typing import Final

CLUSTER_TAG: Final = "ultracluster:cluster"
"""Key of the tag on all resources of a cluster in a rollout file; its value is the name of the cluster."""

RESERVATION_TAG: Final = "ultracluster:capacity-reservation"
"""Key of the tag on nodes that are launched into a reservation; its value is the ID of the reservation."""
