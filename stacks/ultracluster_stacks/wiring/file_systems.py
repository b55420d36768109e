"""The file system of a cluster: a new one, or one that exists."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster import CheckpointBucket, ClusterNetwork, DatasetBucket, SharedFileSystem
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.wiring.buckets import encryption_key

__all__ = ["existing_file_system", "new_file_system"]


def existing_file_system(
    scope: Construct, config: ClusterConfig, network: ClusterNetwork
) -> SharedFileSystem | None:
    """Give the file system that the cluster names; None when it names none."""
    given = config.file_system
    if given.file_system_id is None or given.mount_name is None:
        return None
    group = given.security_group_id
    return SharedFileSystem.from_attributes(
        scope,
        "FileSystem",
        network=network,
        file_system_id=given.file_system_id,
        mount_name=given.mount_name,
        dns_name=given.dns_name,
        zone_id=given.zone_id,
        security_group=ec2.SecurityGroup.from_security_group_id(scope, "FileSystemGroup", group)
        if group
        else None,
        efa_enabled=given.efa,
    )


def new_file_system(
    scope: Construct,
    config: ClusterConfig,
    *,
    network: ClusterNetwork,
    checkpoints: CheckpointBucket,
    datasets: Mapping[str, DatasetBucket],
    kms_key: kms.IKey | None,
) -> SharedFileSystem:
    """Define a file system, joined to the buckets as the cluster asks."""
    given = config.file_system
    # SCRATCH_2 is encrypted with a key of FSx, whatever else is.
    usual = kms_key if given.deployment_type == "PERSISTENT_2" else None
    return SharedFileSystem(
        scope,
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
        efa_clients=config.machine if given.efa else None,
        data_compression=given.data_compression,
        kms_key=encryption_key(scope, "FileSystemKey", given.kms_key_arn) or usual,
        checkpoint_bucket=checkpoints if given.link_checkpoints else None,
        associations=[
            *(each.association for each in given.associations),
            *(
                datasets[each.name].association(each.file_system_path)
                for each in config.datasets
                if each.file_system_path is not None
            ),
        ],
        backup_retention_days=given.backup_retention_days,
        backup_start_time=given.backup_start_time,
        copy_tags_to_backups=given.copy_tags_to_backups,
    )
