"""Amazon FSx for Lustre: settings of a file system, and the values that FSx accepts.

Figures: FSx for Lustre User Guide (deployment options, metadata performance, SSD read cache, EFA, backups, quotas; read
October 2026) and the CreateFileSystem model of botocore 1.44.5.
"""

from dataclasses import dataclass, replace
from typing import Final

FILE_SYSTEM_TYPE_VERSIONS: Final = ("2.10", "2.12", "2.15")
"""Lustre versions that FSx offers."""

MOUNTABLE_VERSIONS: Final = ("2.12", "2.15")
"""Lustre versions that the client of Amazon Linux 2023 mounts; with 2.10, `mount` ends with "Invalid argument".

(https://github.com/amazonlinux/amazon-linux-2023/issues/723 and https://github.com/kubernetes-sigs/aws-fsx-csi-driver/issues/437,
read 2026-11.)
"""


def default_version(deployment_type: str, *, metadata: bool) -> str:
    """Return the Lustre version of a file system that is created without one.

    (https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, FileSystemTypeVersion, read 2026-11.)

    Args:
        deployment_type: Such as ``SCRATCH_2``.
        metadata: Whether it has a metadata configuration.
    """
    if deployment_type != "PERSISTENT_2":
        return "2.10"
    return METADATA_CONFIGURATION_VERSION if metadata else "2.12"


LUSTRE_PORTS: Final = ((988, 988), (1018, 1023))
"""TCP port ranges (first, last) that clients and file system open to each other."""

METADATA_IOPS: Final[tuple[int, ...]] = (1500, 3000, 6000, *range(12_000, 192_001, 12_000))
"""Metadata IOPS that can be provisioned on SSD storage."""

INTELLIGENT_TIERING: Final = "INTELLIGENT_TIERING"
"""Storage type without a fixed size; billed by throughput, cache, stored data and requests."""

INTELLIGENT_TIERING_METADATA_IOPS: Final = (6000, 12_000)
"""Metadata IOPS of Intelligent-Tiering, which must be provisioned."""

THROUGHPUT_CAPACITIES: Final = range(4000, 2_000_001, 4000)
"""Throughput of a file system with Intelligent-Tiering in MB/s; one object server for each step."""

READ_CACHE_MODES: Final = ("NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY")
"""Sizing modes of the SSD read cache of Intelligent-Tiering. Proportional means 20,000 GiB per 4,000 MB/s."""

READ_CACHE_GIB_PER_STEP: Final = range(32, 131_073)
"""Sizes of an SSD read cache in GiB per 4,000 MB/s of throughput."""

BACKUP_RETENTION_DAYS: Final = range(91)
"""Retention of automatic backups in days; 0 disables them."""

METADATA_CONFIGURATION_VERSION: Final = "2.15"
"""Lustre version that supports metadata configuration and EFA; use it for new file systems."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreSettings:
    """Settings of a file system, as a rollout or a template has them. FSx decides about those that are None.

    `FileSystem` in `ultracluster_spec` says what each of them means; its `efa` is `efa_enabled` here.
    """

    deployment_type: str = "PERSISTENT_2"
    storage_type: str = "SSD"
    storage_capacity_gib: int | None = None
    per_unit_storage_throughput: int | None = None
    throughput_capacity: int | None = None
    read_cache: str | None = None
    read_cache_gib: int | None = None
    metadata_iops: int | None = None
    efa_enabled: bool = False
    backup_retention_days: int = 0
    backup_start_time: str | None = None
    copy_tags_to_backups: bool = False
    file_system_type_version: str = METADATA_CONFIGURATION_VERSION

    def with_defaults(self) -> "LustreSettings":
        """Return a copy with defaults for the settings that FSx requires.

        These are 4,800 GiB of SSD, 250 MB/s per TiB for PERSISTENT_2, and with Intelligent-Tiering 4,000 MB/s and 6,000
        metadata IOPS. The read cache has no default, because it can cost more than everything else.
        """
        persistent = self.deployment_type == "PERSISTENT_2"
        if self.storage_type == INTELLIGENT_TIERING and persistent:
            return replace(
                self,
                throughput_capacity=_or(self.throughput_capacity, THROUGHPUT_CAPACITIES[0]),
                metadata_iops=_or(self.metadata_iops, INTELLIGENT_TIERING_METADATA_IOPS[0]),
            )
        return replace(
            self,
            storage_capacity_gib=_or(self.storage_capacity_gib, 4800),
            per_unit_storage_throughput=_or(self.per_unit_storage_throughput, 250)
            if persistent
            else self.per_unit_storage_throughput,
        )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
