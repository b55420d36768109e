"""The stack with the storage of a cluster, which outlives its nodes: buckets, new or imported, file system and compile cache."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster import (
    CheckpointBucket,
    ClusterNetwork,
    CompileCache,
    DatasetBucket,
    PosixCompileCache,
    SharedFileSystem,
)
from ultracluster.storage.cluster_file_system import define_file_system
from ultracluster_spec.buckets import Checkpoints, CompileCacheSettings, Dataset
from ultracluster_spec.cluster import Cluster


class StorageStack(cdk.Stack):
    """Buckets, file system if it has one, and compile cache of a cluster, all retained when the stack is deleted."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Cluster,
        network: ClusterNetwork,
        **options: Any,
    ) -> None:
        """Define the stack; options are those of `aws_cdk.Stack`."""
        super().__init__(scope, construct_id, **options)
        key = imported_key(self, "Key", config.kms_key_arn)
        self.checkpoint_bucket = checkpoint_bucket(self, config.checkpoints, key)
        self.dataset_buckets = {
            dataset.name: dataset_bucket(self, dataset, key) for dataset in config.datasets
        }
        self.file_system = file_system(
            self,
            config,
            network=network,
            checkpoints=self.checkpoint_bucket,
            datasets=self.dataset_buckets,
            kms_key=key,
        )
        self.compile_cache = (
            PosixCompileCache(self.file_system)
            if config.compile_cache.on_file_system and self.file_system
            else compile_cache_bucket(self, config.compile_cache, key)
        )


def checkpoint_bucket(scope: Construct, config: Checkpoints, kms_key: kms.IKey | None) -> CheckpointBucket:
    """Define or import the checkpoint bucket; `kms_key` is the default key of a new one."""
    if config.bucket_name is not None:
        bucket = _existing_bucket(scope, "ExistingCheckpoints", config.bucket_name, config.kms_key_arn)
        return CheckpointBucket.from_bucket(scope, "Checkpoints", bucket)
    return CheckpointBucket(
        scope,
        "Checkpoints",
        kms_key=imported_key(scope, "CheckpointsKey", config.kms_key_arn) or kms_key,
        noncurrent_version_expiration=_days(config.noncurrent_days),
    )


def dataset_bucket(scope: Construct, config: Dataset, kms_key: kms.IKey | None) -> DatasetBucket:
    """Define or import the bucket of a dataset; `kms_key` is the default key of a new one."""
    construct_id = f"Dataset-{config.name}"
    if config.bucket_name is not None:
        bucket = _existing_bucket(scope, f"Existing{construct_id}", config.bucket_name, config.kms_key_arn)
        return DatasetBucket.from_bucket(scope, construct_id, bucket)
    return DatasetBucket(
        scope,
        construct_id,
        kms_key=imported_key(scope, f"Key-{config.name}", config.kms_key_arn) or kms_key,
        noncurrent_version_expiration=_days(config.noncurrent_days),
    )


def compile_cache_bucket(
    scope: Construct, config: CompileCacheSettings, kms_key: kms.IKey | None
) -> CompileCache:
    """Define the compile cache on S3."""
    return CompileCache(
        scope,
        "CompileCache",
        expire_after=_days(config.expire_after_days),
        expire_compilers={
            version: cdk.Duration.days(days) for version, days in config.expire_compilers.items()
        },
        request_metrics=config.request_metrics,
        versioned=config.versioned,
        kms_key=kms_key,
        replicate_to=[
            s3.Bucket.from_bucket_name(scope, f"CopiesOfCache{index + 1}", name)
            for index, name in enumerate(config.replicate_to)
        ],
    )


def file_system(
    scope: Construct,
    config: Cluster,
    *,
    network: ClusterNetwork,
    checkpoints: CheckpointBucket,
    datasets: Mapping[str, DatasetBucket],
    kms_key: kms.IKey | None,
) -> SharedFileSystem | None:
    """Define the file system with its links to the buckets, or import it, if the cluster has one; `kms_key` is the default key of a new one."""
    linked = (
        datasets[dataset.name].association(dataset.file_system_path)
        for dataset in config.datasets
        if dataset.file_system_path is not None
    )
    given = config.file_system
    return define_file_system(
        scope,
        "FileSystem",
        replace(given, associations=(*given.associations, *linked)),
        network=network,
        node_type=config.node_type,
        checkpoint_bucket=checkpoints,
        kms_key=kms_key,
    )


def imported_key(scope: Construct, construct_id: str, arn: str | None) -> kms.IKey | None:
    """Import a key by its ARN, if there is one."""
    return None if arn is None else kms.Key.from_key_arn(scope, construct_id, arn)


def _existing_bucket(scope: Construct, construct_id: str, name: str, key_arn: str | None) -> s3.IBucket:
    return s3.Bucket.from_bucket_attributes(
        scope,
        construct_id,
        bucket_name=name,
        encryption_key=imported_key(scope, f"{construct_id}Key", key_arn),
    )


def _days(days: int | None) -> cdk.Duration | None:
    return None if days is None else cdk.Duration.days(days)
