"""A cluster with several sources of capacity, and what CloudFormation gets of it."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import ZONE, ultra_cluster

from ultracluster import Capacity, CapacityReservation, OnDemand, UltraCluster

OTHER = "cr-0fedcba9876543210"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
RESERVED = CapacityReservation(reservation_id=OTHER, zone_id=ZONE, name="reserved", placement_group="near")
SPILL = OnDemand(name="spill", max_nodes=2)


def cluster(stack: cdk.Stack, *sources: Capacity, **changes: Any) -> UltraCluster:
    return ultra_cluster(stack, **{"capacity": sources} | changes)
