"""What of a cluster is paid for."""

from dataclasses import dataclass
from typing import Literal

from ultracluster_catalog.lustre.lustre import LustreSettings

__all__ = ["Footprint", "NodeSupply"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSupply:
    """Nodes of one source of capacity.

    Attributes:
        name: Name of the source; empty for the first one.
        instance_type: Their type.
        nodes: Most of them at one time.
        market: How they are bought.
        reserved: Whether they are paid from the start to the end of a reservation, used or not.
        volume_gib: Size of the root volume of a node.
        volume_mb_per_s: Throughput of that volume.
    """

    name: str
    instance_type: str
    nodes: int
    market: Literal["capacity-block", "on-demand", "spot"]
    reserved: bool
    volume_gib: int
    volume_mb_per_s: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Footprint:
    """What of one cluster is paid for.

    Attributes:
        cluster: Name of the cluster.
        region: Its Region.
        supplies: Its nodes, by source of capacity, in order of preference.
        file_systems: Its new file systems; an existing one is paid for by somebody else already.
        buckets: Number of new buckets.
        interface_endpoints: Number of interface endpoints, each in one Availability Zone.
        nat_gateways: Number of NAT gateways, each with one public address.
        alarms: Number of metrics that alarms of CloudWatch look at, which is what they are paid by.
        composite_alarms: Number of composite alarms.
        dashboards: Number of dashboards.
        request_metrics: Number of buckets whose requests S3 counts, each with up to 16 custom metrics.
        custom_metrics: Number of metrics of nodes and of the function that watches them; templates do not show it.
        compile_type: Instance type that graphs are compiled on before the run. None if the nodes do it.
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
        """The nodes that are paid for in any case: those of the first source, and those that are reserved.

        Other sources are for when these have no room.
        """
        return tuple(each for index, each in enumerate(self.supplies) if index == 0 or each.reserved)
