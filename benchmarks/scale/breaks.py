"""What breaks first as chips are added to a layout, and what it takes to go on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from scale.layout import Layout, RegionLayout, in_one_account
from ultracluster_catalog.limits.quotas import capacity_block_quota
from ultracluster_catalog.limits.service_limits import SERVICE_LIMITS, LimitScope, ServiceLimit
from ultracluster_catalog.lustre.lustre_figures import can_mount_over_efa, efa_connections
from ultracluster_spec.network import cluster_addresses, network_interfaces

__all__ = ["Break", "breaks"]

_STACKS_PER_CLUSTER: Final = 3
_NIC_LAYOUT: Final = "batch"
_SEARCHED_CHIPS: Final = 10_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Break:
    """One limit, and where a layout meets it.

    Attributes:
        limit: The limit.
        need: What the layout needs of it where it needs most.
        holds_until_chips: The most chips, in blocks of the same size, in the same Regions and one account, that keep the
            limit; for limits of a block or a job, the chips of the largest one. None where ten million keep it.
        takes: What it takes to go on.
    """

    limit: ServiceLimit
    need: int
    holds_until_chips: int | None
    takes: str

    @property
    def exceeded(self) -> bool:
        """Whether the layout needs more than there is before anything is raised."""
        return self.need > self.limit.value


def breaks(layout: Layout) -> tuple[Break, ...]:
    """Hold every limit against a layout, the one that is met first at the front.

    Args:
        layout: The layout.
    """
    found = [_of_size(layout, name) for name in ("block-instances", "job-nodes")]
    found += [_of_demand(layout, limit, need) for limit, need in _demands(layout)]
    return tuple(sorted(found, key=_order))


def _order(each: Break) -> tuple[float, str]:
    return inf if each.holds_until_chips is None else each.holds_until_chips, each.limit.name


def _of_size(layout: Layout, name: str) -> Break:
    """A limit that gives the form of a layout: there is no larger block or job, only more of them."""
    limit = SERVICE_LIMITS[name]
    least = -(-layout.chips // (limit.value * layout.instance_type.chips))
    things = {"block-instances": "blocks, each a separate cluster", "job-nodes": "jobs or more"}[name]
    return Break(
        limit=limit,
        need=-(-layout.chips // layout.instance_type.chips),
        holds_until_chips=limit.value * layout.instance_type.chips,
        takes=f"{least:,} {things}",
    )


_PER_CLUSTER: Final[Mapping[str, Callable[[Layout], int]]] = {
    "compute-environments": lambda layout: layout.assumptions.queues_per_cluster,
    "job-queues": lambda layout: layout.assumptions.queues_per_cluster,
    "submit-job": lambda _: 1,  # one job of each cluster, all submitted in the same second
    "file-systems": lambda _: 1,
    "file-system-storage": lambda layout: layout.assumptions.storage_gib,
    "vpcs": lambda _: 1,
    "run-instances": lambda layout: layout.nodes_per_block,
    "stacks": lambda _: _STACKS_PER_CLUSTER,
    # Each task of a multi-node job has an interface of its own.
    "network-interfaces": lambda layout: (
        layout.nodes_per_block * (len(network_interfaces(layout.instance_type, _NIC_LAYOUT)) + 1)
    ),
    # AWS counts each address, and each further interface of a node once more.
    "vpc-addresses": lambda layout: (
        cluster_addresses(
            instance_type=layout.instance_type, nodes=layout.nodes_per_block, nic_layout=_NIC_LAYOUT
        )
        + layout.nodes_per_block * len(network_interfaces(layout.instance_type, _NIC_LAYOUT))
    ),
    "efa-connections": lambda layout: efa_connections(layout.instance_type, nodes=layout.nodes_per_block),
}


def _demands(layout: Layout) -> list[tuple[ServiceLimit, Callable[[Layout], int]]]:
    demands = [
        (SERVICE_LIMITS[name], _need(SERVICE_LIMITS[name], each))
        for name, each in _PER_CLUSTER.items()
        if name != "efa-connections" or can_mount_over_efa(layout.instance_type)
    ]
    demands.append((SERVICE_LIMITS["instances-in-blocks"], lambda at: at.nodes))
    if counted := capacity_block_quota(layout.instance_type):
        quota = ServiceLimit(
            name=f"vCPUs of {counted.name}",
            value=0,
            scope=LimitScope.REGION,
            adjustable=True,
            source=counted.source,
            dated=counted.dated,
            quota_code=counted.code,
        )
        vcpus = layout.instance_type.vcpus
        demands.append((quota, _need(quota, lambda at: at.nodes_per_block * vcpus)))
    return demands


def _need(limit: ServiceLimit, per_cluster: Callable[[Layout], int]) -> Callable[[Layout], int]:
    def clusters(region: RegionLayout) -> int:
        if limit.scope is LimitScope.CLUSTER:
            return 1
        return (
            region.clusters_of_account_and_zone
            if limit.scope is LimitScope.ZONE
            else region.clusters_of_account
        )

    return lambda at: per_cluster(at) * max(clusters(region) for region in at.regions)


def _of_demand(layout: Layout, limit: ServiceLimit, need: Callable[[Layout], int]) -> Break:
    return Break(
        limit=limit,
        need=need(layout),
        holds_until_chips=_holds_until(layout, limit, need),
        takes=_takes(layout, limit, need(layout)),
    )


def _holds_until(layout: Layout, limit: ServiceLimit, need: Callable[[Layout], int]) -> int | None:
    """Find by bisection how many clusters of one account keep the limit; a need never falls as clusters are added."""
    regions = [region.region for region in layout.regions]

    def keeps(clusters: int) -> bool:
        return need(in_one_account(layout, clusters, regions)) <= limit.value

    low, high = 0, _SEARCHED_CHIPS // layout.chips_per_block
    if keeps(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low * layout.chips_per_block


def _takes(layout: Layout, limit: ServiceLimit, need: int) -> str:
    if limit is SERVICE_LIMITS["run-instances"]:
        return "wait: the nodes of a Region start within minutes, see the rollout below"
    if need <= limit.value:
        held = "none needed" if layout.accounts == 1 else f"none needed in {layout.accounts} accounts"
        return f"{held}: {need:,} of {limit.value:,}"
    if limit.adjustable:
        code = f" ({limit.quota_code})" if limit.quota_code else ""
        return f"a quota of {need:,}{code} in each account and Region"
    if limit.adjustable is None:
        return f"an agreement with AWS for {need:,}; AWS does not document that the limit can be raised"
    return "fewer or smaller clusters"
