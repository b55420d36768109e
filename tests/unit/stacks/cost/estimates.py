"""A footprint whose bill was calculated by hand, and its estimate."""

from decimal import Decimal
from typing import Any

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_stacks.cost import (
    Estimate,
    Footprint,
    NodeSupply,
    Usage,
    catalogue_prices,
    estimate_cost,
)

NODES = NodeSupply(
    name="",
    instance_type="trn1.32xlarge",
    nodes=2,
    market="capacity-block",
    reserved=True,
    volume_gib=200,
    volume_mb_per_s=500,
)
SSD = LustreSettings(storage_capacity_gib=1200, per_unit_storage_throughput=125)
CLUSTER = Footprint(
    cluster="train",
    region="us-east-1",
    supplies=(NODES,),
    file_systems=(SSD,),
    buckets=2,
    interface_endpoints=9,
    alarms=1,
)


def estimate(footprint: Footprint = CLUSTER, *, given: Any = None, **usage: Any) -> Estimate:
    planned = Usage(**{"hours": Decimal(24), **usage})
    return estimate_cost(footprint, usage=planned, prices=catalogue_prices(), given=given)


def names(found: Estimate) -> dict[str, Any]:
    return {line.name: line for line in found.lines}
