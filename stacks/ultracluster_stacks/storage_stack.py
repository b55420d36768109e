"""The stack with what outlives the nodes of a cluster."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
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
from ultracluster_stacks.config import ClusterConfig, DatasetConfig, machine_of

__all__ = ["StorageStack"]


class StorageStack(cdk.Stack):
    """Buckets, file system and compile cache; all of them are kept when the stack is deleted."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: ClusterConfig,
        network: ClusterNetwork,
        **options: Any,
    ) -> None:
        """Define the stack.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            config: The cluster.
            network: Its network.
            **options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **options)
        self.checkpoint_bucket = self._checkpoint_bucket(config)
        self.dataset_buckets = {each.name: self._dataset_bucket(each) for each in config.datasets}
        self.file_system = self._existing_file_system(config, network) or self._file_system(config, network)
        self.compile_cache = self._compile_cache(config)

    def _checkpoint_bucket(self, config: ClusterConfig) -> CheckpointBucket:
        given = config.checkpoints
        if given.bucket_name is not None:
            bucket = self._existing_bucket("ExistingCheckpoints", given.bucket_name, given.kms_key_arn)
            return CheckpointBucket.from_bucket(self, "Checkpoints", bucket)
        return CheckpointBucket(
            self,
            "Checkpoints",
            kms_key=self._key("CheckpointsKey", given.kms_key_arn),
            noncurrent_version_expiration=_days(given.noncurrent_days),
        )

    def _dataset_bucket(self, given: DatasetConfig) -> DatasetBucket:
        construct_id = f"Dataset-{given.name}"
        if given.bucket_name is not None:
            bucket = self._existing_bucket(f"Existing{construct_id}", given.bucket_name, given.kms_key_arn)
            return DatasetBucket.from_bucket(self, construct_id, bucket)
        return DatasetBucket(
            self,
            construct_id,
            kms_key=self._key(f"Key-{given.name}", given.kms_key_arn),
            noncurrent_version_expiration=_days(given.noncurrent_days),
        )

    def _compile_cache(self, config: ClusterConfig) -> CompileCache | PosixCompileCache:
        given = config.compile_cache
        if given.on_file_system:
            return PosixCompileCache(self.file_system)
        return CompileCache(
            self,
            "CompileCache",
            expire_after=_days(given.expire_after_days),
            expire_compilers={
                version: cdk.Duration.days(days) for version, days in given.expire_compilers.items()
            },
            request_metrics=given.request_metrics,
            versioned=given.versioned,
            replicate_to=[
                s3.Bucket.from_bucket_name(self, f"CopiesOfCache{index + 1}", name)
                for index, name in enumerate(given.replicate_to)
            ],
        )

    def _existing_bucket(self, construct_id: str, name: str, key_arn: str | None) -> s3.IBucket:
        return s3.Bucket.from_bucket_attributes(
            self, construct_id, bucket_name=name, encryption_key=self._key(f"{construct_id}Key", key_arn)
        )

    def _key(self, construct_id: str, arn: str | None) -> kms.IKey | None:
        return None if arn is None else kms.Key.from_key_arn(self, construct_id, arn)

    def _existing_file_system(
        self, config: ClusterConfig, network: ClusterNetwork
    ) -> SharedFileSystem | None:
        given = config.file_system
        if given.file_system_id is None or given.mount_name is None:
            return None
        group = given.security_group_id
        return SharedFileSystem.from_attributes(
            self,
            "FileSystem",
            network=network,
            file_system_id=given.file_system_id,
            mount_name=given.mount_name,
            dns_name=given.dns_name,
            zone_id=given.zone_id,
            security_group=ec2.SecurityGroup.from_security_group_id(self, "FileSystemGroup", group)
            if group
            else None,
            efa_enabled=given.efa,
        )

    def _file_system(self, config: ClusterConfig, network: ClusterNetwork) -> SharedFileSystem:
        given = config.file_system
        return SharedFileSystem(
            self,
            "FileSystem",
            network=network,
            deployment_type=given.deployment_type,
            storage_type=given.storage_type,
            storage_capacity_gib=given.storage_capacity_gib,
            per_unit_storage_throughput=given.per_unit_storage_throughput,
            throughput_capacity=given.throughput_capacity,
            read_cache=given.read_cache,
            read_cache_gib=given.read_cache_gib,
            metadata_iops=given.metadata_iops,
            efa_clients=machine_of(config) if given.efa else None,
            data_compression=given.data_compression,
            kms_key=self._key("FileSystemKey", given.kms_key_arn),
            checkpoint_bucket=self.checkpoint_bucket.bucket if given.join_checkpoints else None,
            associations=[
                *(each.association for each in given.associations),
                *(
                    self.dataset_buckets[each.name].association(each.file_system_path)
                    for each in config.datasets
                    if each.file_system_path is not None
                ),
            ],
            backup_retention_days=given.backup_retention_days,
            backup_start_time=given.backup_start_time,
            copy_tags_to_backups=given.copy_tags_to_backups,
        )


def _days(days: int | None) -> cdk.Duration | None:
    return None if days is None else cdk.Duration.days(days)
