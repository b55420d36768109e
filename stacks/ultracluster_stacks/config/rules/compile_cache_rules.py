"""Rules about the compile cache of a cluster."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_rules.buckets import check_destinations, check_replication_key
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.problem import Problem

_OF_THE_BUCKET: Final = (
    "expire_after_days",
    "expire_compilers",
    "request_metrics",
    "versioned",
    "replicate_to",
)


def cache_is_in_one_place(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse bucket settings for a cache on the file system, where they would be ignored."""
    cache = cluster.compile_cache
    for name in _OF_THE_BUCKET:
        if cache.on_file_system and getattr(cache, name):
            yield Problem.of(
                ("compile_cache", name),
                "UC6018",
                f"{name} applies to a cache on S3, but this one is on the file system",
                remedy="Remove one of them",
            )


def copies_go_to_each_bucket_once(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse a duplicate destination, as S3 does."""
    buckets = cluster.compile_cache.replicate_to
    for index, finding in check_destinations(buckets):
        yield Problem(("compile_cache", "replicate_to", index), finding)
    for index, name in enumerate(buckets):
        if name in {cluster.checkpoints.bucket_name, *(each.bucket_name for each in cluster.datasets)}:
            yield Problem.of(
                ("compile_cache", "replicate_to", index),
                "UC5142",
                f"{name} holds checkpoints or data of this cluster",
                remedy="Use the bucket of a compile cache in another Region",
            )


def copies_have_no_key(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse replication of entries that a customer managed key encrypts."""
    cache = cluster.compile_cache
    has_key = cluster.kms_key_arn is not None and not cache.on_file_system
    for finding in check_replication_key(has_key=has_key, replicated=bool(cache.replicate_to)):
        yield Problem(("compile_cache", "replicate_to"), finding)


RULES: Final[tuple[Callable[[ClusterConfig], Iterator[Problem]], ...]] = (
    cache_is_in_one_place,
    copies_go_to_each_bucket_once,
    copies_have_no_key,
)
"""Rules about the compile cache."""
