"""L1 properties of a Lustre file system: configuration and data repository associations."""

from aws_cdk import aws_fsx as fsx
from constructs import Construct

from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING, LustreSettings
from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation


def lustre_configuration(
    settings: LustreSettings, *, data_compression: bool
) -> fsx.CfnFileSystem.LustreConfigurationProperty:
    """Return the Lustre configuration of a file system, without unset properties."""
    backups = settings.backup_retention_days != 0
    return fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type=settings.deployment_type,
        per_unit_storage_throughput=settings.per_unit_storage_throughput,
        throughput_capacity=settings.throughput_capacity,
        data_read_cache_configuration=_read_cache(settings),
        # Required for hard disks: CreateFileSystem, DriveCacheType.
        drive_cache_type="NONE" if settings.storage_type == "HDD" else None,
        data_compression_type="LZ4" if data_compression else "NONE",
        metadata_configuration=_metadata(settings),
        efa_enabled=True if settings.efa_enabled else None,
        automatic_backup_retention_days=settings.backup_retention_days if backups else None,
        daily_automatic_backup_start_time=settings.backup_start_time,
        # Set even without backups: backups can be enabled later, but this property cannot change after creation.
        copy_tags_to_backups=True if settings.copy_tags_to_backups else None,
    )


def _read_cache(settings: LustreSettings) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
    if settings.storage_type != INTELLIGENT_TIERING:
        return None
    return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(
        sizing_mode=settings.read_cache, size_gib=settings.read_cache_gib
    )


def _metadata(settings: LustreSettings) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
    if settings.deployment_type != "PERSISTENT_2":
        return None
    if settings.metadata_iops is not None:
        return fsx.CfnFileSystem.MetadataConfigurationProperty(
            mode="USER_PROVISIONED", iops=settings.metadata_iops
        )
    # Metadata configuration cannot be added later, and metadata IOPS cannot grow without it.
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")


def define_association(
    scope: Construct, construct_id: str, *, file_system_id: str, association: DataRepositoryAssociation
) -> fsx.CfnDataRepositoryAssociation:
    """Define a data repository association of a file system."""
    resource = fsx.CfnDataRepositoryAssociation
    imports, exports = association.import_events, association.export_events
    return resource(
        scope,
        construct_id,
        file_system_id=file_system_id,
        file_system_path=association.file_system_path,
        data_repository_path=association.data_repository_path,
        batch_import_meta_data_on_create=association.import_existing,
        s3=resource.S3Property(
            auto_import_policy=resource.AutoImportPolicyProperty(events=list(imports)) if imports else None,
            auto_export_policy=resource.AutoExportPolicyProperty(events=list(exports)) if exports else None,
        )
        if imports or exports
        else None,
    )
