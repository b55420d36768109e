"""Define or import the file system of a cluster."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster import CheckpointBucket, ClusterNetwork, DatasetBucket, SharedFileSystem
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.wiring.buckets import encryption_key


def existing_file_system(
    scope: Construct, config: ClusterConfig, network: ClusterNetwork
) -> SharedFileSystem | None:
    """Import the existing file system of a cluster, or return None without one."""
    settings = config.file_system
    if settings.file_system_id is None or settings.mount_name is None:
        return None
    group = settings.security_group_id
    return SharedFileSystem.from_attributes(
        scope,
        "FileSystem",
        network=network,
        file_system_id=settings.file_system_id,
        mount_name=settings.mount_name,
        dns_name=settings.dns_name,
        zone_id=settings.zone_id,
        security_group=ec2.SecurityGroup.from_security_group_id(scope, "FileSystemGroup", group)
        if group
        else None,
        efa_enabled=settings.efa,
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
    """Define a file system with its links to the buckets."""
    settings = config.file_system
    # SCRATCH_2 is always encrypted with a key of FSx.
    default_key = kms_key if settings.deployment_type == "PERSISTENT_2" else None
    return SharedFileSystem(
        scope,
        "FileSystem",
        network=network,
        deployment_type=settings.deployment_type,
        storage_type=settings.storage_type,
        storage_capacity_gib=settings.storage_capacity_gib,
        per_unit_storage_throughput=settings.per_unit_storage_throughput,
        throughput_capacity=settings.throughput_capacity,
        read_cache=settings.read_cache,
        read_cache_gib=settings.read_cache_gib,
        metadata_iops=settings.metadata_iops,
        efa_clients=config.machine if settings.efa else None,
        data_compression=settings.data_compression,
        kms_key=encryption_key(scope, "FileSystemKey", settings.kms_key_arn) or default_key,
        checkpoint_bucket=checkpoints if settings.link_checkpoints else None,
        associations=[
            *(association.association for association in settings.associations),
            *(
                datasets[dataset.name].association(dataset.file_system_path)
                for dataset in config.datasets
                if dataset.file_system_path is not None
            ),
        ],
        backup_retention_days=settings.backup_retention_days,
        backup_start_time=settings.backup_start_time,
        copy_tags_to_backups=settings.copy_tags_to_backups,
    )
