"""Billable resources of a cluster, from its configuration; tests compare them with the templates."""

from datetime import timedelta
from decimal import Decimal
from typing import Final

from ultracluster_catalog.neuron.compile_machines import compile_type
from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.cost.footprint import Footprint, NodeSupply

# The default root volume of nodes, which a rollout file cannot change.
_VOLUME_GIB: Final = 200
_VOLUME_MB_PER_S: Final = 500

# Metrics of a cluster with `alarms` and a file system of known size.
_ALARM_METRICS: Final = 19
_CUSTOM_METRICS: Final = sum(metric.source in {"node", "watch"} for metric in METRICS.values())


def configured_footprint(cluster: ClusterConfig) -> Footprint:
    """Return the billable resources of a cluster."""
    supplies = tuple(
        NodeSupply(
            name=getattr(capacity, "name", ""),
            instance_type=cluster.instance_type,
            nodes=cluster.nodes_from(capacity),
            market=capacity.market_type,
            reserved=capacity.reservation_id is not None or capacity.resource_group_arn is not None,
            volume_gib=_VOLUME_GIB,
            volume_mb_per_s=_VOLUME_MB_PER_S,
        )
        for _, capacity in cluster.sources()
    )
    alarms = cluster.effective_alarms
    new_network = cluster.network.subnet_id is None
    new_file_system = cluster.file_system.file_system_id is None
    own_cache = not cluster.compile_cache.on_file_system
    bucket_names = [cluster.checkpoints.bucket_name, *(dataset.bucket_name for dataset in cluster.datasets)]
    return Footprint(
        cluster=cluster.name,
        region=cluster.region,
        supplies=supplies,
        file_systems=(cluster.file_system.settings,) if new_file_system else (),
        buckets=bucket_names.count(None) + own_cache,
        interface_endpoints=len(NODE_SERVICES) + len(cluster.network.endpoints) if new_network else 0,
        nat_gateways=1 if new_network and cluster.network.nat_gateway else 0,
        alarms=sum(supply.market == "capacity-block" for supply in supplies)
        + closes_queues(cluster)
        + resumes_jobs(cluster)
        + (0 if alarms is None else _ALARM_METRICS - (not _has_size(cluster))),
        composite_alarms=0 if alarms is None else 1,
        dashboards=int(alarms is not None and alarms.dashboard),
        custom_metrics=0 if alarms is None else _CUSTOM_METRICS,
        request_metrics=int(own_cache and cluster.compile_cache.request_metrics),
        compile_type=_compile_type(cluster),
    )


def _has_size(cluster: ClusterConfig) -> bool:
    """Return whether the size of the file system is known, so that an alarm can watch its free space."""
    file_system = cluster.file_system
    return file_system.file_system_id is None and file_system.settings.storage_capacity_gib is not None


def resumes_jobs(cluster: ClusterConfig) -> bool:
    """Return whether a function with an alarm submits interrupted jobs again."""
    is_notified = cluster.has_block or bool(cluster.notify) or cluster.effective_alarms is not None
    return is_notified and any(job.kind != "precompile" for job in cluster.jobs)


def closes_queues(cluster: ClusterConfig) -> bool:
    """Return whether a budget closes the queues, with a function that has an alarm."""
    return cluster.budget is not None and cluster.budget.close_queues_at_percent is not None


def _compile_type(cluster: ClusterConfig) -> str | None:
    for job in cluster.jobs:
        if job.kind == "precompile":
            zone, phase = cluster.zone_id, job.phase
            node = compile_type(cluster.machine, zone_id=zone, phase=phase, instance_type=job.instance_type)
            return node.name if node else None
    return None


def planned_hours(cluster: ClusterConfig) -> Decimal | None:
    """Return the hours between start and end of a cluster's capacity, or None if unknown."""
    start, end = cluster.capacity.start, cluster.capacity.end
    return None if start is None or end is None else Decimal((end - start) // timedelta(minutes=1)) / 60
