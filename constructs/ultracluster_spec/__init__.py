"""Values that describe a cluster, in Python and YAML."""

from ultracluster_spec.capacity import (
    AnySource,
    CapacityBlock,
    CapacityReservation,
    OnDemand,
    ReservationGroup,
    Spot,
)
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.lustre import Association

__all__ = [
    "AnySource",
    "Association",
    "CapacityBlock",
    "CapacityReservation",
    "FileSystem",
    "OnDemand",
    "ReservationGroup",
    "Spot",
]
