"""What CreateFileSystem would refuse of a file system on Lustre."""

import re
from collections.abc import Iterable, Iterator
from math import ceil
from typing import Final

from ultracluster_catalog.lustre.lustre import (
    BACKUP_RETENTION_DAYS,
    FILE_SYSTEM_TYPE_VERSIONS,
    INTELLIGENT_TIERING,
    INTELLIGENT_TIERING_METADATA_IOPS,
    METADATA_CONFIGURATION_VERSION,
    METADATA_IOPS,
    READ_CACHE_GIB_PER_STEP,
    READ_CACHE_MODES,
    THROUGHPUT_CAPACITIES,
    LustreSettings,
)
from ultracluster_catalog.lustre.lustre_tiers import LustreTier, get_lustre_tier
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["check_file_system"]

_TIME_OF_DAY: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"


def check_file_system(settings: LustreSettings) -> list[Finding]:
    """Find what CreateFileSystem would refuse.

    Args:
        settings: The file system.

    Returns:
        All problems; empty for a file system that can be created.
    """
    return [
        *_check_storage(settings),
        *_check_version(settings),
        *_check_efa(settings),
        *_check_metadata_iops(settings),
        *_check_backups(settings),
    ]


def _check_storage(settings: LustreSettings) -> Iterator[Finding]:
    if _tiers(settings):
        yield from _check_foreign(settings, ("storage_capacity_gib", "per_unit_storage_throughput"))
        yield from _check_throughput_capacity(settings)
        yield from _check_read_cache(settings)
        return
    try:
        tier = get_lustre_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    except FindingsError as error:
        yield from error.findings
    else:
        if settings.storage_type != tier.storage_type:
            yield Finding(
                code="UC5010",
                path="storage_type",
                problem=f"got {quote(settings.storage_type)} with {settings.deployment_type}",
                allowed=f"{tier.storage_type}"
                + (f" or {INTELLIGENT_TIERING}" if settings.deployment_type == "PERSISTENT_2" else ""),
            )
        yield from _check_capacity(tier, settings)
    yield from _check_foreign(settings, ("throughput_capacity", "read_cache", "read_cache_gib"))


def _tiers(settings: LustreSettings) -> bool:
    return settings.storage_type == INTELLIGENT_TIERING and settings.deployment_type == "PERSISTENT_2"


def _check_foreign(settings: LustreSettings, names: Iterable[str]) -> Iterator[Finding]:
    """Check that nothing is asked for that belongs to the other kind of storage."""
    for name in names:
        value = getattr(settings, name)
        if value is not None:
            yield Finding(
                code="UC5011",
                path=name,
                problem=f"got {quote(value)} with storage type {quote(settings.storage_type)}",
                remedy="Leave it out",
            )


def _check_throughput_capacity(settings: LustreSettings) -> Iterator[Finding]:
    if settings.throughput_capacity not in THROUGHPUT_CAPACITIES:
        yield Finding(
            code="UC5012",
            path="throughput_capacity",
            problem=f"got {quote(settings.throughput_capacity)}",
            allowed="multiples of 4000 MB/s up to 2000000",
        )


def _check_read_cache(settings: LustreSettings) -> Iterator[Finding]:
    if settings.read_cache not in READ_CACHE_MODES:
        yield Finding(
            code="UC5013",
            path="read_cache",
            problem=f"got {quote(settings.read_cache)}; Intelligent-Tiering says whether it has an SSD read cache",
            allowed=", ".join(READ_CACHE_MODES),
            remedy="PROPORTIONAL_TO_THROUGHPUT_CAPACITY pays for 20000 GiB of SSD for each 4000 MB/s",
        )
        return
    if settings.read_cache != "USER_PROVISIONED":
        if settings.read_cache_gib is not None:
            yield Finding(
                code="UC5013",
                path="read_cache_gib",
                problem=f"got {quote(settings.read_cache_gib)} with {settings.read_cache}",
                remedy="Leave it out, or give USER_PROVISIONED as read_cache",
            )
        return
    steps = max((settings.throughput_capacity or 0) // THROUGHPUT_CAPACITIES.step, 1)
    least, most = (bound * steps for bound in (READ_CACHE_GIB_PER_STEP[0], READ_CACHE_GIB_PER_STEP[-1]))
    if settings.read_cache_gib is None or not least <= settings.read_cache_gib <= most:
        yield Finding(
            code="UC5013",
            path="read_cache_gib",
            problem=f"got {quote(settings.read_cache_gib)} for {quote(settings.throughput_capacity)} MB/s",
            allowed=f"{least} to {most} GiB",
        )


def _check_capacity(tier: LustreTier, settings: LustreSettings) -> Iterator[Finding]:
    capacity, efa = settings.storage_capacity_gib, settings.efa_enabled
    if capacity is not None and tier.allows(capacity, efa_enabled=efa):
        return
    step = tier.efa_capacity_step_gib if efa and tier.efa_capacity_step_gib else tier.capacity_step_gib
    small = () if step == tier.efa_capacity_step_gib else tier.small_capacities_gib
    above = max(ceil((capacity or 0) / step), 1) * step
    nearest = next((gib for gib in small if gib >= (capacity or 0)), above)
    yield Finding(
        code="UC5003",
        path="storage_capacity_gib",
        problem=f"got {quote(capacity)}",
        allowed=f"{', '.join(map(str, (*small, f'multiples of {step}')))} GiB{' with EFA' if efa else ''}",
        remedy=f"The next larger is {nearest} GiB.",
    )


def _check_version(settings: LustreSettings) -> Iterator[Finding]:
    allowed = FILE_SYSTEM_TYPE_VERSIONS[1 if settings.deployment_type == "PERSISTENT_2" else 0 :]
    if settings.file_system_type_version not in allowed:
        yield Finding(
            code="UC5004",
            path="file_system_type_version",
            problem=f"got {quote(settings.file_system_type_version)}",
            allowed=", ".join(allowed),
            remedy="2.15 is the one for new file systems.",
        )


def _check_efa(settings: LustreSettings) -> Iterator[Finding]:
    if settings.efa_enabled:
        yield from _check_metadata_configuration(settings, feature="EFA", path="efa_enabled")


def _check_metadata_iops(settings: LustreSettings) -> Iterator[Finding]:
    iops = settings.metadata_iops
    tiered = _tiers(settings)
    if iops is not None:
        yield from _check_metadata_configuration(
            settings, feature="provisioned metadata IOPS", path="metadata_iops"
        )
    elif not tiered:
        return
    if iops not in (INTELLIGENT_TIERING_METADATA_IOPS if tiered else METADATA_IOPS):
        yield Finding(
            code="UC5006",
            path="metadata_iops",
            problem=f"got {quote(iops)}",
            allowed="6000 or 12000 with Intelligent-Tiering"
            if tiered
            else "1500, 3000, 6000 or a multiple of 12000 up to 192000",
        )


def _check_metadata_configuration(settings: LustreSettings, *, feature: str, path: str) -> Iterator[Finding]:
    """Check what EFA and provisioned metadata IOPS both need: a metadata configuration."""
    deployment_type, version = settings.deployment_type, settings.file_system_type_version
    if deployment_type != "PERSISTENT_2" or version != METADATA_CONFIGURATION_VERSION:
        yield Finding(
            code="UC5005",
            path=path,
            problem=f"{feature} with {quote(deployment_type)} and Lustre {quote(version)}",
            allowed=f"PERSISTENT_2 with Lustre {METADATA_CONFIGURATION_VERSION}",
        )


def _check_backups(settings: LustreSettings) -> Iterator[Finding]:
    days, start = settings.backup_retention_days, settings.backup_start_time
    if days not in BACKUP_RETENTION_DAYS:
        yield Finding(
            code="UC5015", path="backup_retention_days", problem=f"got {quote(days)}", allowed="0 to 90 days"
        )
    elif days > 0 and settings.deployment_type.startswith("SCRATCH"):
        yield Finding(
            code="UC5014",
            path="backup_retention_days",
            problem=f"got {quote(days)} with {settings.deployment_type}, of which FSx takes no backups",
            remedy="Leave it out, or use PERSISTENT_2",
        )
    if settings.copy_tags_to_backups and settings.deployment_type.startswith("SCRATCH"):
        yield Finding(
            code="UC5014",
            path="copy_tags_to_backups",
            problem=f"got true with {settings.deployment_type}, of which FSx takes no backups",
            remedy="Leave it out, or use PERSISTENT_2",
        )
    if start is None:
        return
    if not re.fullmatch(_TIME_OF_DAY, start):
        yield Finding(
            code="UC5015",
            path="backup_start_time",
            problem=f"got {quote(start)}",
            allowed='a time of day in UTC, such as "03:30"',
        )
    elif days == 0:
        yield Finding(
            code="UC5015",
            path="backup_start_time",
            problem=f"got {quote(start)}, but no backups are kept",
            remedy="Give backup_retention_days too",
        )
