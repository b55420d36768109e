"""Rules about the file system, buckets and compile cache of a cluster."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_catalog.lustre.lustre_figures import EFA_CONNECTIONS_PER_FILE_SYSTEM, efa_connections
from ultracluster_rules.buckets import check_destinations, check_replication_key
from ultracluster_rules.lustre import (
    check_access,
    check_associations,
    check_efa_clients,
    check_file_system,
    check_key,
    check_zone_of_file_system,
)
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.file_system import OF_EXISTING, FileSystemConfig
from ultracluster_stacks.config.reading.problem import Loc, Problem, duplicates, located

_OF_THE_BUCKET: Final = (
    "expire_after_days",
    "expire_compilers",
    "request_metrics",
    "versioned",
    "replicate_to",
)
_OF_BOTH: Final = frozenset({"file_system_id", "efa", *OF_EXISTING})


def file_system_exists(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse sizes and throughputs that FSx does not offer."""
    if cluster.file_system.file_system_id is not None:
        return
    for finding in check_file_system(cluster.file_system.settings):
        path = "efa" if finding.path == "efa_enabled" else finding.path
        yield Problem(("file_system", path) if path else ("file_system",), finding)


def associations_can_be_made(cluster: ClusterConfig) -> Iterator[Problem]:
    """Check links to S3 against the limits of FSx: paths and prefixes must not overlap."""
    settings = cluster.file_system
    if settings.file_system_id is not None:
        return
    places: list[Loc] = [("file_system", "associations", i) for i in range(len(settings.associations))]
    joined = [config.association for config in settings.associations]
    for index, dataset in enumerate(cluster.datasets):
        if dataset.file_system_path is not None:
            places.append(("datasets", index))
            joined.append(_joined(dataset.file_system_path, dataset.bucket_name or f"new-{index}"))
    if settings.link_checkpoints:
        places.append(("file_system", "link_checkpoints"))
        joined.append(_joined("/checkpoints", cluster.checkpoints.bucket_name or "new"))
    for finding in check_associations(joined, settings=settings.settings):
        yield Problem(_association_loc(finding.path, places), finding)


def buckets_have_one_use(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn about a dataset in the checkpoint bucket, to which jobs write."""
    name = cluster.checkpoints.bucket_name
    for index, dataset in enumerate(cluster.datasets):
        if name is not None and dataset.bucket_name == name and dataset.file_system_path is None:
            problem = f"{name} is also the checkpoint bucket, to which jobs write"
            remedy = "Use separate buckets for datasets and checkpoints"
            yield Problem.of(("datasets", index, "bucket_name"), "UC2251", problem, remedy=remedy)


def _joined(file_system_path: str, bucket_name: str) -> DataRepositoryAssociation:
    return DataRepositoryAssociation(
        file_system_path=file_system_path, data_repository_path=f"s3://{bucket_name}"
    )


def _association_loc(path: str, places: list[Loc]) -> Loc:
    """Return the location of an association: an explicit one, a dataset, or the checkpoints."""
    if match := re.fullmatch(r"associations\[(\d+)\]\.(\w+)", path):
        place = places[int(match[1])]
        if place[-1] == "link_checkpoints":
            return place
        if place[0] == "datasets":
            return (*place, "bucket_name" if match[2] == "data_repository_path" else match[2])
        return (*place, match[2])
    if path == "associations":
        return places[0][:2] if places[0][0] == "file_system" else places[0]
    return ("file_system", path)


def efa_has_clients(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse EFA for nodes that cannot use it, and warn about too many connections."""
    if not cluster.file_system.efa:
        return
    machine = cluster.machine
    if findings := check_efa_clients([machine]):
        yield from located(("file_system", "efa"), findings)
        return
    connections = efa_connections(machine, nodes=cluster.most_nodes)
    if connections > EFA_CONNECTIONS_PER_FILE_SYSTEM:
        yield Problem.of(
            ("file_system", "efa"),
            "UC5105",
            f"the nodes make {connections:,} EFA connections, and a file system has "
            f"{EFA_CONNECTIONS_PER_FILE_SYSTEM:,}",
            remedy="Let the image set up fewer EFA interfaces for Lustre",
        )


def existing_file_system_is_whole(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse settings that mix a new and an existing file system."""
    settings = cluster.file_system
    existing = settings.file_system_id is not None
    if existing and settings.mount_name is None:
        problem = "file_system_id is set without mount_name"
        remedy = "Set both for an existing file system; `aws fsx describe-file-systems` shows them"
        yield Problem.of(("file_system", "file_system_id"), "UC5103", problem, remedy=remedy)
    of_new = [name for name in FileSystemConfig.model_fields if name not in _OF_BOTH]
    for name in of_new if existing else OF_EXISTING:
        if settings.differs(name):
            yield Problem.of(
                ("file_system", name),
                "UC5103",
                f"{name} is for {'a new' if existing else 'an existing'} file system only",
                remedy=f"Remove it, or {'remove' if existing else 'set'} file_system_id",
            )
    for index, dataset in enumerate(cluster.datasets):
        if existing and dataset.file_system_path is not None:
            problem = "file_system_path is for a new file system only; an existing one is not changed"
            yield Problem.of(("datasets", index, "file_system_path"), "UC5103", problem, remedy="Remove it")


def existing_file_system_is_near(cluster: ClusterConfig) -> Iterator[Problem]:
    """Check that an existing file system is in the zone of the nodes and reachable."""
    settings = cluster.file_system
    if settings.file_system_id is None:
        return
    name = "file_system_id" if settings.zone_id is None else "zone_id"
    yield from located(("file_system", name), check_zone_of_file_system(settings.zone_id, cluster.zone_id))
    yield from located(
        ("file_system", "file_system_id"), check_access(has_rules=settings.security_group_id is not None)
    )


def keys_are_near(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse KMS keys of another Region."""
    if cluster.file_system.kms_key_arn is not None:
        yield from located(("file_system", "kms_key_arn"), check_key(cluster.file_system.deployment_type))
    places: list[tuple[Loc, str | None]] = [
        (("kms_key_arn",), cluster.kms_key_arn),
        (("file_system", "kms_key_arn"), cluster.file_system.kms_key_arn),
        *(((*loc, "kms_key_arn"), bucket.kms_key_arn) for loc, bucket in cluster.buckets()),
    ]
    for loc, arn in places:
        if arn is not None and arn.split(":")[3] != cluster.region:
            problem = f"the key is in {arn.split(':')[3]}, the cluster in {cluster.region}"
            yield Problem.of(loc, "UC5104", problem, remedy="Use a key in the Region of the cluster")


def buckets_are_new_or_existing(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse settings of new buckets on existing ones, and duplicate datasets."""
    for loc, bucket in cluster.buckets():
        if bucket.bucket_name is not None and bucket.noncurrent_days is not None:
            problem = "noncurrent_days is for a new bucket only"
            remedy = "Remove it, or remove bucket_name"
            yield Problem.of((*loc, "noncurrent_days"), "UC5112", problem, remedy=remedy)
    for index, name in duplicates(dataset.name for dataset in cluster.datasets):
        remedy = "Use a unique name for each dataset"
        yield Problem.of(("datasets", index, "name"), "UC5113", f"duplicate dataset {name}", remedy=remedy)


def cache_is_in_one_place(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse bucket settings for a cache on the file system, where they would be ignored."""
    cache = cluster.compile_cache
    for name in _OF_THE_BUCKET:
        if cache.on_file_system and getattr(cache, name):
            problem = f"{name} applies to a cache on S3, but this one is on the file system"
            yield Problem.of(("compile_cache", name), "UC6018", problem, remedy="Remove one of them")


def copies_go_to_each_bucket_once(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse a duplicate destination, as S3 does."""
    buckets = cluster.compile_cache.replicate_to
    for index, finding in check_destinations(buckets):
        yield Problem(("compile_cache", "replicate_to", index), finding)
    for index, name in enumerate(buckets):
        if name in [bucket.bucket_name for _, bucket in cluster.buckets()]:
            problem = f"{name} holds checkpoints or data of this cluster"
            remedy = "Use the bucket of a compile cache in another Region"
            yield Problem.of(("compile_cache", "replicate_to", index), "UC5142", problem, remedy=remedy)


def copies_have_no_key(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse replication of entries that a customer managed key encrypts."""
    cache = cluster.compile_cache
    has_key = cluster.kms_key_arn is not None and not cache.on_file_system
    yield from located(
        ("compile_cache", "replicate_to"),
        check_replication_key(has_key=has_key, replicated=bool(cache.replicate_to)),
    )
