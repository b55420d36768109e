"""Billable resources of a cluster."""

from dataclasses import dataclass
from typing import Literal

from ultracluster_catalog.lustre.lustre import LustreSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSupply:
    """Nodes of one source of capacity, at most; reserved ones are billed for the whole reservation, used or not."""

    name: str
    instance_type: str
    nodes: int
    market: Literal["capacity-block", "on-demand", "spot"]
    reserved: bool
    volume_gib: int
    volume_mb_per_s: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Footprint:
    """Billable resources of one cluster.

    Attributes:
        supplies: Nodes by source of capacity, in order of preference.
        file_systems: New file systems; existing ones are not counted.
        interface_endpoints: Number of interface endpoints, each in one Availability Zone.
        nat_gateways: Number of NAT gateways, each with one public address.
        alarms: Number of alarm metrics, by which CloudWatch alarms are billed.
        request_metrics: Number of buckets with S3 request metrics, each with up to 16 custom metrics.
        custom_metrics: Number of custom metrics of the nodes and of the function that watches them; not in templates.
        compile_type: Instance type that compiles graphs before the run. None if the nodes do.
    """

    cluster: str
    region: str
    supplies: tuple[NodeSupply, ...] = ()
    file_systems: tuple[LustreSettings, ...] = ()
    buckets: int = 0
    interface_endpoints: int = 0
    nat_gateways: int = 0
    alarms: int = 0
    composite_alarms: int = 0
    dashboards: int = 0
    request_metrics: int = 0
    custom_metrics: int = 0
    compile_type: str | None = None

    def paid_supplies(self) -> tuple[NodeSupply, ...]:
        """Return the nodes that are billed in any case: those of the first source, and reserved ones."""
        return tuple(supply for index, supply in enumerate(self.supplies) if index == 0 or supply.reserved)
