"""`file_system` of a cluster: a new or existing FSx for Lustre file system, and its directories linked to S3."""

from dataclasses import fields
from typing import Annotated, Any, Final, Literal

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_catalog.lustre.lustre_figures import file_system_interfaces
from ultracluster_catalog.places.cluster_subnet import FILE_SYSTEM_ADDRESSES
from ultracluster_rules.lustre import DATA_REPOSITORY, DNS_NAME, FILE_SYSTEM, MOUNT_NAME, check_file_system
from ultracluster_rules.values import Between
from ultracluster_stacks.config.models.constraints import Constraint, resource_id
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import KeyArn

OF_EXISTING: Final = ("mount_name", "dns_name", "zone_id", "security_group_id")
"""Settings of an existing file system besides its ID."""


_Event = Literal["NEW", "CHANGED", "DELETED"]


class AssociationConfig(ConfigModel):
    """A data repository association: a directory of the file system linked to a bucket or prefix."""

    file_system_path: str
    """Directory of the file system, such as /datasets."""

    data_repository_path: Annotated[str, Constraint(DATA_REPOSITORY)]
    """Existing bucket and prefix, such as s3://my-bucket/c4/."""

    import_events: tuple[_Event, ...] = ("NEW", "CHANGED")
    """Changes in S3 that are imported automatically. Must be empty for a bucket in another Region."""

    export_events: tuple[_Event, ...] = ("NEW", "CHANGED")
    """Changes in the directory that are exported to S3 automatically. With `DELETED`, rm on Lustre deletes the object."""

    import_existing: bool = True
    """Whether to import the metadata of objects that exist at creation."""

    @property
    def association(self) -> DataRepositoryAssociation:
        """The association for the constructs."""
        return DataRepositoryAssociation(**{name: getattr(self, name) for name in type(self).model_fields})


class FileSystemConfig(ConfigModel):
    """An FSx for Lustre file system. Default: a new one with deployment type PERSISTENT_2 on SSD."""

    deployment_type: Literal["PERSISTENT_2", "SCRATCH_2"] = "PERSISTENT_2"
    """`SCRATCH_2` is not replicated: data is lost if a server fails. Changing it replaces the file system."""

    storage_type: Literal["SSD", "INTELLIGENT_TIERING"] = "SSD"
    """`INTELLIGENT_TIERING` grows with its data and is billed by throughput, read cache, data and requests; it cannot be
    linked to S3. Changing it replaces the file system."""

    storage_capacity_gib: (
        Annotated[int, Constraint(Between(code="UC5101", least=1_200, most=100_000_000))] | None
    ) = None
    """Size in GiB: 1,200, 2,400 or a multiple of 2,400. Can be increased later, not decreased. Default: 4,800; not
    applicable to `INTELLIGENT_TIERING`."""

    per_unit_storage_throughput: int | None = None
    """Throughput in MB/s per TiB of storage: 125, 250, 500 or 1,000. Default: 250; not applicable to `SCRATCH_2` and
    `INTELLIGENT_TIERING`."""

    throughput_capacity: int | None = None
    """Throughput in MB/s with `INTELLIGENT_TIERING`: a multiple of 4,000. Can be increased later, not decreased. Default:
    4,000."""

    read_cache: Literal["NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"] | None = None
    """SSD read cache; required with `INTELLIGENT_TIERING`. `PROPORTIONAL_TO_THROUGHPUT_CAPACITY` is billed as 20,000 GiB of
    SSD per 4,000 MB/s."""

    read_cache_gib: int | None = None
    """Size of a `USER_PROVISIONED` read cache: 32 to 131,072 GiB per 4,000 MB/s."""

    metadata_iops: int | None = None
    """Metadata operations per second: 1,500, 3,000, 6,000 or a multiple of 12,000 up to 192,000. Can be increased later, not
    decreased. Default: chosen by FSx from the size; 6,000 with `INTELLIGENT_TIERING`, which supports 6,000 or 12,000."""

    efa: bool = False
    """Whether nodes mount over EFA, which the trn2 family does not support. Changing it replaces the file system."""

    data_compression: bool = True
    """Whether to compress new data with LZ4. Default: yes."""

    kms_key_arn: KeyArn | None = None
    """ARN of the KMS key for data at rest. Changing it replaces the file system. Default: the AWS managed key of FSx."""

    link_checkpoints: bool = True
    """Whether to link /checkpoints to the checkpoint bucket, in both directions. Default: yes."""

    associations: tuple[AssociationConfig, ...] = ()
    """More directories to link to S3; at most 8 including /checkpoints and datasets. Default: none."""

    backup_retention_days: int = 0
    """Days to keep daily backups, up to 90; not with `SCRATCH_2` or links to S3. Default: no backups."""

    backup_start_time: str | None = None
    """Start of daily backups: HH:MM in UTC, in quotes, such as "03:30". Default: chosen by FSx."""

    copy_tags_to_backups: bool = False
    """Whether to copy the tags of the file system to backups. Changing it replaces the file system. Default: no."""

    file_system_id: Annotated[str, Constraint(FILE_SYSTEM)] | None = None
    """ID of an existing file system, with `mount_name`. It is not changed; of the settings above only `efa` applies.
    Default: a new file system."""

    mount_name: Annotated[str, Constraint(MOUNT_NAME)] | None = None
    """Lustre mount name of the existing file system."""

    dns_name: Annotated[str, Constraint(DNS_NAME)] | None = None
    """DNS name of the existing file system. Default: derived from ID and Region."""

    zone_id: str | None = None
    """Zone ID of the existing file system, checked against the cluster's. Default: not checked, with a warning."""

    security_group_id: Annotated[str, resource_id("sg", code=FILE_SYSTEM.code)] | None = None
    """ID of the existing file system's security group, to which rules for the nodes are added. Default: no rules are added,
    with a warning."""

    @property
    def settings(self) -> LustreSettings:
        """Settings of the new file system for the constructs."""
        same = [field.name for field in fields(LustreSettings) if field.name in type(self).model_fields]
        settings: dict[str, Any] = {name: getattr(self, name) for name in same}
        return LustreSettings(**settings, efa_enabled=self.efa).with_defaults()

    @property
    def subnet_addresses(self) -> int:
        """Addresses to reserve in an existing subnet: those of a new file system, with room to grow."""
        if self.file_system_id is not None:
            return 0
        settings = self.settings
        if check_file_system(settings):
            return FILE_SYSTEM_ADDRESSES
        return max(FILE_SYSTEM_ADDRESSES, file_system_interfaces(settings))
