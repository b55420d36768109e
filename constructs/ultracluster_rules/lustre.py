"""Rules for FSx for Lustre: what CreateFileSystem and CreateDataRepositoryAssociation would reject."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
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
from ultracluster_catalog.lustre.lustre_associations import (
    ASSOCIATION_EVENTS,
    DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM,
    DataRepositoryAssociation,
)
from ultracluster_catalog.lustre.lustre_figures import can_mount_over_efa
from ultracluster_catalog.lustre.lustre_tiers import (
    DEPLOYMENT_TYPES,
    LUSTRE_TIERS,
    LustreTier,
    get_lustre_tier,
)
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import FILE_SYSTEM_DNS_NAME, FILE_SYSTEM_ID, LUSTRE_MOUNT_NAME
from ultracluster_rules.findings import Finding, quote, require
from ultracluster_rules.values import Form

FILE_SYSTEM_KEY: Final = "UC5007"
"""Code of a key for a file system that cannot have it."""


_FOLDER: Final = r"/|(?:/[^/\x00\r\n\x85\u2028\u2029]+)+/?"
_LONGEST_FOLDER: Final = 4096
_METADATA: Final = "UC5005"
_S3_PATH: Final = r"s3://[^/\s]+(?:/[^\x00\r\n\x85\u2028\u2029]*)?"
_LONGEST_S3_PATH: Final = 4357
_TIME_OF_DAY: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"


FILE_SYSTEM: Final = Form(code="UC5030", pattern=FILE_SYSTEM_ID, allowed="fs- and 17 hexadecimal digits")
"""ID of an existing file system."""

MOUNT_NAME: Final = Form(
    code=FILE_SYSTEM.code, pattern=LUSTRE_MOUNT_NAME, allowed="1 to 8 letters, digits, - and _"
)
"""Mount name of an existing file system."""

DNS_NAME: Final = Form(
    code=FILE_SYSTEM.code,
    pattern=FILE_SYSTEM_DNS_NAME,
    allowed="a name such as fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
)
"""DNS name of an existing file system."""

DATA_REPOSITORY: Final = Form(
    code="UC5025",
    pattern=r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[^\x00-\x1f\x7f]*)?",
    allowed="s3://BUCKET or s3://BUCKET/PREFIX/",
)
"""Bucket and prefix of an association."""


_MODES_WITH_IOPS: Final = {"AUTOMATIC": False, "USER_PROVISIONED": True}  # CreateFileSystem, botocore 1.44.5


def check_deployment_type(deployment_type: str, known: Sequence[str]) -> list[Finding]:
    """Check a deployment type (UC5001)."""
    return require(
        deployment_type in known,
        "UC5001",
        f"{quote(deployment_type)} is not a deployment type",
        path="deployment_type",
        allowed=", ".join(known),
    )


def check_metadata_given(settings: LustreSettings, *, given: bool, mode: str | None = None) -> list[Finding]:
    """Check that a file system has a metadata configuration exactly if it needs and can have one (UC5005)."""
    if mode in _MODES_WITH_IOPS and _MODES_WITH_IOPS[mode] != (settings.metadata_iops is not None):
        problem = f"{mode} {'without' if settings.metadata_iops is None else 'with'} Iops"
        return [Finding(_METADATA, problem, allowed="USER_PROVISIONED with Iops, or AUTOMATIC without")]
    if given and not settings.efa_enabled and settings.metadata_iops is None:
        return list(_check_metadata_configuration(settings, feature="a metadata configuration", path=""))
    if given or not settings.efa_enabled or settings.deployment_type != "PERSISTENT_2":
        return []
    problem = "EFA without a metadata configuration"
    allowed = "Mode: AUTOMATIC, or USER_PROVISIONED with Iops"
    return [Finding(_METADATA, problem, allowed=allowed)]


def check_key(deployment_type: str, *, path: str = "") -> list[Finding]:
    """Check whether a file system can be encrypted with a customer managed key (UC5007)."""
    return require(
        deployment_type == "PERSISTENT_2",
        FILE_SYSTEM_KEY,
        f"{deployment_type} is encrypted with a key of FSx",
        remedy="Remove it, or use PERSISTENT_2",
        path=path,
    )


def check_efa_clients(machines: Sequence[InstanceType], *, path: str = "") -> list[Finding]:
    """Check whether one of the clients of a file system with EFA can mount it over EFA (UC5027)."""
    return require(
        any(map(can_mount_over_efa, machines)),
        "UC5027",
        f"{', '.join(machine.name for machine in machines)} cannot mount a file system over EFA, and over TCP it "
        "gets less from the fewer object servers of one with EFA",
        allowed="types of Nitro v4 with EFA, except Trainium2",
        remedy="Leave it out",
        path=path,
    )


def check_zone_of_file_system(zone_id: str | None, network_zone_id: str) -> list[Finding]:
    """Check that an existing file system is in the zone of its clients (UC5031), and its zone known (UC5032)."""
    if zone_id is None:
        return [
            Finding(
                "UC5032",
                f"the zone of the file system is unknown; the nodes are in {network_zone_id}",
                remedy="Set its zone_id, so that it is checked",
            )
        ]
    return require(
        zone_id == network_zone_id,
        "UC5031",
        f"the file system is in {quote(zone_id)}, the nodes are in {quote(network_zone_id)}",
        remedy="Use a file system in the zone of the nodes: traffic between zones is slower and billed",
    )


def check_access(*, has_rules: bool) -> list[Finding]:
    """Warn about an existing file system to whose security group no rules are added (UC5033)."""
    return require(
        has_rules,
        "UC5033",
        "no security group rule lets the nodes reach the file system",
        remedy="Set its security group, or add rules for Lustre to both groups yourself",
    )


def check_file_system(settings: LustreSettings) -> list[Finding]:
    """Check a file system for what CreateFileSystem would reject (UC5001 to UC5006, UC5010 to UC5015)."""
    return [
        *_check_storage(settings),
        *_check_version(settings),
        *_check_efa(settings),
        *_check_metadata_iops(settings),
        *_check_backups(settings),
    ]


def _check_storage(settings: LustreSettings) -> Iterator[Finding]:
    if _is_intelligent_tiering(settings):
        yield from _check_unused(settings, ("storage_capacity_gib", "per_unit_storage_throughput"))
        yield from _check_throughput_capacity(settings)
        yield from _check_read_cache(settings)
        return
    try:
        tier = get_lustre_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    except ValueError:
        yield _unknown_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    else:
        if settings.storage_type != tier.storage_type:
            yield Finding(
                "UC5010",
                f"got {quote(settings.storage_type)} with {settings.deployment_type}",
                path="storage_type",
                allowed=f"{tier.storage_type}"
                + (f" or {INTELLIGENT_TIERING}" if settings.deployment_type == "PERSISTENT_2" else ""),
            )
        yield from _check_capacity(tier, settings)
    yield from _check_unused(settings, ("throughput_capacity", "read_cache", "read_cache_gib"))


def _unknown_tier(deployment_type: str, throughput: int | None) -> Finding:
    throughputs = [
        tier.per_unit_storage_throughput for tier in LUSTRE_TIERS if tier.deployment_type == deployment_type
    ]
    if not throughputs:
        return check_deployment_type(deployment_type, DEPLOYMENT_TYPES)[0]
    return Finding(
        "UC5002",
        f"got {quote(throughput)} for {deployment_type}",
        path="per_unit_storage_throughput",
        allowed="none: the throughput of a scratch file system is fixed"
        if None in throughputs
        else f"{', '.join(map(str, throughputs))} MB/s per TiB",
    )


def _is_intelligent_tiering(settings: LustreSettings) -> bool:
    return settings.storage_type == INTELLIGENT_TIERING and settings.deployment_type == "PERSISTENT_2"


def _check_unused(settings: LustreSettings, names: Iterable[str]) -> Iterator[Finding]:
    """Check that no setting of another storage type is used."""
    for name in names:
        value = getattr(settings, name)
        if value is not None:
            yield Finding(
                "UC5011",
                f"got {quote(value)} with storage type {quote(settings.storage_type)}",
                path=name,
                remedy="Leave it out",
            )


def _check_throughput_capacity(settings: LustreSettings) -> Iterator[Finding]:
    if settings.throughput_capacity not in THROUGHPUT_CAPACITIES:
        yield Finding(
            "UC5012",
            f"got {quote(settings.throughput_capacity)}",
            path="throughput_capacity",
            allowed="multiples of 4000 MB/s up to 2000000",
        )


def _check_read_cache(settings: LustreSettings) -> Iterator[Finding]:
    if settings.read_cache not in READ_CACHE_MODES:
        yield Finding(
            "UC5013",
            f"got {quote(settings.read_cache)}; Intelligent-Tiering requires a mode for its SSD read cache",
            path="read_cache",
            allowed=", ".join(READ_CACHE_MODES),
            remedy="PROPORTIONAL_TO_THROUGHPUT_CAPACITY is billed for 20000 GiB of SSD per 4000 MB/s",
        )
        return
    if settings.read_cache != "USER_PROVISIONED":
        if settings.read_cache_gib is not None:
            yield Finding(
                "UC5013",
                f"got {quote(settings.read_cache_gib)} with {settings.read_cache}",
                path="read_cache_gib",
                remedy="Leave it out, or set read_cache to USER_PROVISIONED",
            )
        return
    steps = max((settings.throughput_capacity or 0) // THROUGHPUT_CAPACITIES.step, 1)
    least, most = (bound * steps for bound in (READ_CACHE_GIB_PER_STEP[0], READ_CACHE_GIB_PER_STEP[-1]))
    if settings.read_cache_gib is None or not least <= settings.read_cache_gib <= most:
        yield Finding(
            "UC5013",
            f"got {quote(settings.read_cache_gib)} for {quote(settings.throughput_capacity)} MB/s",
            path="read_cache_gib",
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
        "UC5003",
        f"got {quote(capacity)}",
        path="storage_capacity_gib",
        allowed=f"{', '.join(map(str, (*small, f'multiples of {step}')))} GiB{' with EFA' if efa else ''}",
        remedy=f"The next larger is {nearest} GiB.",
    )


def _check_version(settings: LustreSettings) -> Iterator[Finding]:
    allowed = FILE_SYSTEM_TYPE_VERSIONS[1 if settings.deployment_type == "PERSISTENT_2" else 0 :]
    if settings.file_system_type_version not in allowed:
        yield Finding(
            "UC5004",
            f"got {quote(settings.file_system_type_version)}",
            path="file_system_type_version",
            allowed=", ".join(allowed),
            remedy="Use 2.15 for new file systems.",
        )


def _check_efa(settings: LustreSettings) -> Iterator[Finding]:
    if settings.efa_enabled:
        yield from _check_metadata_configuration(settings, feature="EFA", path="efa_enabled")


def _check_metadata_iops(settings: LustreSettings) -> Iterator[Finding]:
    iops = settings.metadata_iops
    tiered = _is_intelligent_tiering(settings)
    if iops is not None:
        yield from _check_metadata_configuration(
            settings, feature="provisioned metadata IOPS", path="metadata_iops"
        )
    elif not tiered:
        return
    if iops not in (INTELLIGENT_TIERING_METADATA_IOPS if tiered else METADATA_IOPS):
        yield Finding(
            "UC5006",
            f"got {quote(iops)}",
            path="metadata_iops",
            allowed="6000 or 12000 with Intelligent-Tiering"
            if tiered
            else "1500, 3000, 6000 or a multiple of 12000 up to 192000",
        )


def _check_metadata_configuration(settings: LustreSettings, *, feature: str, path: str) -> Iterator[Finding]:
    """Check the deployment type and version that EFA and provisioned metadata IOPS require."""
    deployment_type, version = settings.deployment_type, settings.file_system_type_version
    if deployment_type != "PERSISTENT_2" or version != METADATA_CONFIGURATION_VERSION:
        yield Finding(
            _METADATA,
            f"{feature} with {quote(deployment_type)} and Lustre {quote(version)}",
            path=path,
            allowed=f"PERSISTENT_2 with Lustre {METADATA_CONFIGURATION_VERSION}",
        )


def _check_backups(settings: LustreSettings) -> Iterator[Finding]:
    days, start = settings.backup_retention_days, settings.backup_start_time
    if days not in BACKUP_RETENTION_DAYS:
        yield Finding("UC5015", f"got {quote(days)}", path="backup_retention_days", allowed="0 to 90 days")
    elif days > 0 and settings.deployment_type.startswith("SCRATCH"):
        yield Finding(
            "UC5014",
            f"got {quote(days)} with {settings.deployment_type}, which FSx does not back up",
            path="backup_retention_days",
            remedy="Leave it out, or use PERSISTENT_2",
        )
    if settings.copy_tags_to_backups and settings.deployment_type.startswith("SCRATCH"):
        yield Finding(
            "UC5014",
            f"got true with {settings.deployment_type}, which FSx does not back up",
            path="copy_tags_to_backups",
            remedy="Leave it out, or use PERSISTENT_2",
        )
    if start is None:
        return
    if not re.fullmatch(_TIME_OF_DAY, start):
        yield Finding(
            "UC5015",
            f"got {quote(start)}",
            path="backup_start_time",
            allowed='a time of day in UTC, such as "03:30"',
        )
    elif days == 0:
        yield Finding(
            "UC5015",
            f"got {quote(start)}, but no backups are kept",
            path="backup_start_time",
            remedy="Set backup_retention_days, too",
        )


def check_associations(
    associations: Sequence[DataRepositoryAssociation], *, settings: LustreSettings, path: str = "associations"
) -> list[Finding]:
    """Check associations for what CreateDataRepositoryAssociation would reject (UC5014, UC5020 to UC5026)."""
    if not associations:
        return []
    findings = list(_check_file_system_links(associations, settings, path))
    for index, association in enumerate(associations):
        findings += _check_association(association, f"{path}[{index}]")
    findings += _overlaps(
        [f"{association.file_system_path.rstrip('/')}/" for association in associations],
        code="UC5023",
        path=path,
        name="file_system_path",
    )
    findings += _overlaps(
        [f"{association.data_repository_path.rstrip('/')}/" for association in associations],
        code="UC5024",
        path=path,
        name="data_repository_path",
    )
    return findings


def _check_file_system_links(
    associations: Sequence[DataRepositoryAssociation], settings: LustreSettings, path: str
) -> Iterator[Finding]:
    for unsupported, what in (
        (settings.deployment_type == "SCRATCH_1", "SCRATCH_1"),
        (settings.storage_type == INTELLIGENT_TIERING, "Intelligent-Tiering"),
        (settings.file_system_type_version == "2.10", "Lustre 2.10"),
    ):
        if unsupported:
            yield Finding(
                "UC5020",
                f"got {len(associations)} with {what}, which cannot be linked to S3",
                path=path,
                remedy="Leave them out, or use PERSISTENT_2 or SCRATCH_2 on SSD",
            )
    for name, is_set in (
        ("backup_retention_days", settings.backup_retention_days > 0),
        ("copy_tags_to_backups", settings.copy_tags_to_backups),
    ):
        if is_set:
            yield Finding(
                "UC5014",
                f"got {quote(getattr(settings, name))} for a file system that is linked to S3, which FSx "
                "does not back up",
                path=name,
                remedy="Leave it out, because S3 holds the data, or remove the links",
            )
    if len(associations) > DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM:
        yield Finding(
            "UC5021",
            f"got {len(associations)} associations",
            path=path,
            allowed=f"at most {DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM} on one file system",
        )


def _check_association(association: DataRepositoryAssociation, path: str) -> Iterator[Finding]:
    folder, prefix = association.file_system_path, association.data_repository_path
    parts = folder.split("/")
    if not re.fullmatch(_FOLDER, folder) or {".", ".."} & {*parts} or len(folder) > _LONGEST_FOLDER:
        yield Finding(
            "UC5022",
            f"got {quote(folder)}",
            path=f"{path}.file_system_path",
            allowed="a folder from the root of the file system, such as /datasets",
        )
    if not re.fullmatch(_S3_PATH, prefix) or len(prefix) > _LONGEST_S3_PATH:
        yield Finding(
            DATA_REPOSITORY.code,
            f"got {quote(prefix)}",
            path=f"{path}.data_repository_path",
            allowed="s3://BUCKET or s3://BUCKET/PREFIX/",
        )
    for name in ("import_events", "export_events"):
        events: tuple[str, ...] = getattr(association, name)
        if not {*events} <= {*ASSOCIATION_EVENTS} or len({*events}) < len(events):
            yield Finding(
                "UC5026",
                f"got {quote(events)}",
                path=f"{path}.{name}",
                allowed="NEW, CHANGED and DELETED, each at most once",
            )


def _overlaps(places: Sequence[str], *, code: str, path: str, name: str) -> Iterator[Finding]:
    for (first, one), (second, other) in combinations(enumerate(places), 2):
        if one.startswith(other) or other.startswith(one):
            yield Finding(
                code,
                f"{quote(other)} and {quote(one)} of {path}[{first}] overlap",
                path=f"{path}[{second}].{name}",
                remedy="Link paths that do not contain each other",
            )
