"""Values that describe a cluster, in Python and YAML."""

from ultracluster_spec.capacity import (
    AdditionalCapacity,
    Capacity,
    CapacityBlock,
    CapacityRecord,
    CapacityReservation,
    OnDemand,
    ReservationGroup,
    Spot,
)
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.lustre import Association

__all__ = [
    "AdditionalCapacity",
    "Association",
    "Capacity",
    "CapacityBlock",
    "CapacityRecord",
    "CapacityReservation",
    "FileSystem",
    "OnDemand",
    "ReservationGroup",
    "Spot",
]
