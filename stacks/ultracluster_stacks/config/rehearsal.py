"""Rehearsals: the deployment of a cluster without nodes, before its capacity is bought."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeVar

from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING, THROUGHPUT_CAPACITIES
from ultracluster_spec.alarms import warn_of_missing_recipients
from ultracluster_spec.capacity import CapacityRecord, placeholder_reservation
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.lustre import check_file_system

PLAN: Final = "plan"
REHEARSAL: Final = "rehearsal"
REHEARSAL_WITHOUT_FILE_SYSTEM: Final = "rehearsal-without-file-system"
PURPOSES: Final = (PLAN, REHEARSAL, REHEARSAL_WITHOUT_FILE_SYSTEM)
"""Purposes of a synthesis that is no deployment: placeholders stand for capacity that is not bought."""

REHEARSAL_PREFIX: Final = "rehearsal-"
"""Prefix of the names of rehearsed clusters, and so of their stages and stacks."""

REHEARSAL_TAG: Final = "ultracluster:rehearsal"
"""Key of the tag on all stacks and resources of a rehearsal; its value is the name of the rehearsed cluster."""

_SIZES_GIB: Final = (1_200, 2_400, 4_800, 7_200, 9_600, 12_000, 19_200, 24_000, 38_400)
# Nodes never boot, so no node mounts the file system.
_NOT_MADE: Final = FileSystem(
    file_system_id="fs-00000000000000000", mount_name="none", link_checkpoints=False
)


_Capacity = TypeVar("_Capacity", bound=CapacityRecord)


@dataclass(frozen=True, kw_only=True, slots=True)
class RehearsedCluster(Cluster):
    """A cluster without capacity, without room for a node in its compute environments, and without retained resources."""

    rehearsal: Literal[True] = True


def rehearsed(cluster: Cluster, *, file_system: bool = True) -> RehearsedCluster:
    """Return the rehearsal of a cluster.

    It has another name, a reservation that does not exist, the smallest file system of the same kind, and no
    recipients of notices. It changes nothing that exists: no rules are added to existing security groups, and
    existing buckets are not linked.
    """
    nothing: dict[str, Any] = {"emails": (), "topic_arn": None}
    values = cluster.known() | {
        "name": f"{REHEARSAL_PREFIX}{cluster.name}",
        "capacity": _without_capacity(cluster.capacity),
        "additional_capacity": tuple(_without_capacity(capacity) for capacity in cluster.additional_capacity),
        "network": replace(
            cluster.network, security_group_id=None, default_security_group_id=None, add_efa_rules=False
        )
        if cluster.network.subnet_id
        else cluster.network,
        "file_system": _NOT_MADE if cluster.file_system.is_new and not file_system else _smallest(cluster),
        "datasets": tuple(
            replace(dataset, file_system_path=None) if dataset.bucket_name or not file_system else dataset
            for dataset in cluster.datasets
        ),
        "compile_cache": replace(cluster.compile_cache, replicate_to=()),
        "jobs": tuple(
            replace(job, mounts=tuple(mount for mount in job.mounts if not mount.file_system_arn))
            for job in cluster.jobs
        ),
        "alarms": replace(cluster.alarms, **nothing) if cluster.alarms else None,
        "budget": replace(cluster.budget, **nothing) if cluster.budget else None,
        "capacity_watch": None,
        "notify": (),
        "suppress": {
            **cluster.suppress,
            warn_of_missing_recipients().code: "a rehearsal sends no notifications",
        },
    }
    return RehearsedCluster(**values)


def left_out(cluster: Cluster) -> Sequence[str]:
    """Return what a rehearsal of a cluster leaves out, because it would change something that exists."""
    network, system = cluster.network, cluster.file_system
    groups = (network.security_group_id, network.default_security_group_id, system.security_group_id)
    buckets = [cluster.checkpoints.bucket_name] if system.link_checkpoints else []
    buckets += [dataset.bucket_name for dataset in cluster.datasets if dataset.file_system_path]
    parts = {
        "rules in existing security groups": any(groups),
        "links to existing buckets": bool(system.associations or any(buckets)),
        "S3 Files": any(mount.file_system_arn for job in cluster.jobs for mount in job.mounts),
        "replication of the compile cache": bool(cluster.compile_cache.replicate_to),
    }
    return [part for part, is_left_out in parts.items() if is_left_out]


def _without_capacity(capacity: _Capacity) -> _Capacity:
    """Return capacity with the same kind of target, which does not exist."""
    if capacity.reservation_id is None and capacity.order is None:
        return capacity  # EC2 reads a resource group only at a launch
    placeholder = placeholder_reservation(capacity.order or capacity.reservation_id or "")
    return replace(capacity, reservation_id=placeholder, order=None)


def _smallest(cluster: Cluster) -> FileSystem:
    system = cluster.file_system
    if not system.is_new:
        return replace(system, security_group_id=None)
    same_kind = replace(
        system,
        backup_retention_days=0,
        backup_start_time=None,
        associations=(),
        link_checkpoints=system.link_checkpoints and cluster.checkpoints.bucket_name is None,
        metadata_iops=None,
    )
    if system.storage_type == INTELLIGENT_TIERING:
        least = min(THROUGHPUT_CAPACITIES)
        return replace(same_kind, throughput_capacity=least, read_cache="NO_CACHE", read_cache_gib=None)
    sizes = (replace(same_kind, storage_capacity_gib=size) for size in _SIZES_GIB)
    return next((smaller for smaller in sizes if not check_file_system(smaller.settings)), system)
