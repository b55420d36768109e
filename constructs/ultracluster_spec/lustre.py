"""Rules for FSx for Lustre: what CreateFileSystem and CreateDataRepositoryAssociation would reject."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import Annotated, Any, Final, Literal

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
)
from ultracluster_catalog.lustre.lustre_figures import can_mount_over_efa
from ultracluster_catalog.lustre.lustre_tiers import (
    DEPLOYMENT_TYPES,
    LUSTRE_TIERS,
    LustreTier,
    get_lustre_tier,
)
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_spec.bounds import Form
from ultracluster_spec.findings import Finding, quote, require
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import At, findings, rule
from ultracluster_spec.values import Value

_FOLDER: Final = r"/|(?:/[^/\x00\r\n\x85\u2028\u2029]+)+/?"
_LONGEST_FOLDER: Final = 4096
_S3_PATH: Final = r"s3://[^/\s]+(?:/[^\x00\r\n\x85\u2028\u2029]*)?"
_LONGEST_S3_PATH: Final = 4357
_TIME_OF_DAY: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"


DATA_REPOSITORY: Final = Form(
    code="UC5025",
    pattern=r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[^\x00-\x1f\x7f]*)?",
    allowed="s3://BUCKET or s3://BUCKET/PREFIX/",
)
"""Bucket and prefix of an association."""

Event = Literal["NEW", "CHANGED", "DELETED"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Association(Value):
    """A data repository association: a directory of the file system linked to a bucket or prefix."""

    file_system_path: str
    """Directory of the file system, such as /datasets; / must be the only one. Changing it replaces the link, and the data stays on
    both sides."""

    data_repository_path: Annotated[str, DATA_REPOSITORY]
    """Existing bucket and prefix, such as s3://my-bucket/c4/. Changing it replaces the link."""

    import_events: tuple[Event, ...] = ("NEW", "CHANGED")
    """Changes in S3 that are imported automatically. Must be empty for a bucket in another Region."""

    export_events: tuple[Event, ...] = ("NEW", "CHANGED")
    """Changes in the directory that are exported to S3 automatically: NEW and CHANGED. `DELETED` is refused: rm on Lustre
    would delete the object."""

    import_existing: bool = True
    """Whether to import the metadata of objects that exist at creation. Default: yes."""


@rule("UC5027")
def efa_has_clients(instance_types: Sequence[InstanceType]) -> Iterator[At]:
    """One of the clients of a file system with EFA can mount it over EFA."""
    if not instance_types:
        yield At(
            "", "the instance type of the clients is unknown", remedy="Set efa_clients, or leave efa out"
        )
    elif not any(map(can_mount_over_efa, instance_types)):
        names = ", ".join(instance_type.name for instance_type in instance_types)
        yield At(
            "",
            f"{names} cannot mount a file system over EFA, and over TCP it gets less from the fewer object servers of "
            "one with EFA",
            "types of Nitro v4 with EFA, except Trainium2",
            "Leave it out",
        )


def check_file_system(settings: LustreSettings) -> list[Finding]:
    """Return what CreateFileSystem would reject, as far as the settings are known."""
    return findings(SETTINGS_RULES, settings)


def _is_intelligent_tiering(settings: LustreSettings) -> bool:
    return settings.storage_type == INTELLIGENT_TIERING and settings.deployment_type == "PERSISTENT_2"


def _tier(settings: LustreSettings) -> LustreTier | None:
    """Return the tier of a file system with a fixed size; None if there is none."""
    if _is_intelligent_tiering(settings):
        return None
    try:
        return get_lustre_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    except ValueError:
        return None


@rule("UC5001")
def deployment_type_is_known(settings: LustreSettings) -> Iterator[At]:
    """The deployment type is one of FSx."""
    if settings.deployment_type not in DEPLOYMENT_TYPES:
        problem = f"{quote(settings.deployment_type)} is not a deployment type"
        yield At("deployment_type", problem, ", ".join(DEPLOYMENT_TYPES))


@rule("UC5002")
def throughput_is_offered(settings: LustreSettings) -> Iterator[At]:
    """The deployment type has the throughput of each unit of storage."""
    throughput, deployment_type = settings.per_unit_storage_throughput, settings.deployment_type
    offered = [
        each.per_unit_storage_throughput for each in LUSTRE_TIERS if each.deployment_type == deployment_type
    ]
    if offered and throughput not in offered and not _is_intelligent_tiering(settings):
        fixed = "none: the throughput of a scratch file system is fixed"
        allowed = fixed if None in offered else f"{', '.join(map(str, offered))} MB/s per TiB"
        yield At("per_unit_storage_throughput", f"got {quote(throughput)} for {deployment_type}", allowed)


@rule("UC5010")
def storage_type_is_offered(settings: LustreSettings) -> Iterator[At]:
    """The deployment type has the storage type."""
    tier = _tier(settings)
    if tier and settings.storage_type != tier.storage_type:
        more = f" or {INTELLIGENT_TIERING}" if settings.deployment_type == "PERSISTENT_2" else ""
        problem = f"got {quote(settings.storage_type)} with {settings.deployment_type}"
        yield At("storage_type", problem, f"{tier.storage_type}{more}")


@rule("UC5003")
def size_is_offered(settings: LustreSettings) -> Iterator[At]:
    """The size is one that FSx offers for the tier."""
    tier = _tier(settings)
    if tier is None:
        return
    capacity, efa = settings.storage_capacity_gib, settings.efa_enabled
    if capacity is not None and tier.allows(capacity, efa_enabled=efa):
        return
    step = tier.efa_capacity_step_gib if efa and tier.efa_capacity_step_gib else tier.capacity_step_gib
    small = () if step == tier.efa_capacity_step_gib else tier.small_capacities_gib
    above = max(ceil((capacity or 0) / step), 1) * step
    nearest = next((gib for gib in small if gib >= (capacity or 0)), above)
    yield At(
        "storage_capacity_gib",
        f"got {quote(capacity)}",
        f"{', '.join(map(str, (*small, f'multiples of {step}')))} GiB{' with EFA' if efa else ''}",
        f"The next larger is {nearest} GiB.",
    )


@rule("UC5011")
def settings_are_of_one_storage_type(settings: LustreSettings) -> Iterator[At]:
    """No setting of another storage type is used."""
    sized = ("storage_capacity_gib", "per_unit_storage_throughput")
    cached = ("throughput_capacity", "read_cache", "read_cache_gib")
    for name in sized if _is_intelligent_tiering(settings) else cached:
        value = getattr(settings, name)
        if value is not None:
            problem = f"got {quote(value)} with storage type {quote(settings.storage_type)}"
            yield At(name, problem, remedy="Leave it out")


@rule("UC5012")
def throughput_capacity_is_offered(settings: LustreSettings) -> Iterator[At]:
    """The throughput of Intelligent-Tiering is a multiple of 4,000 MB/s."""
    if _is_intelligent_tiering(settings) and settings.throughput_capacity not in THROUGHPUT_CAPACITIES:
        problem = f"got {quote(settings.throughput_capacity)}"
        yield At("throughput_capacity", problem, "multiples of 4000 MB/s up to 2000000")


@rule("UC5013")
def read_cache_fits(settings: LustreSettings) -> Iterator[At]:
    """Intelligent-Tiering has a read cache, whose size fits its throughput."""
    if not _is_intelligent_tiering(settings):
        return
    if settings.read_cache not in READ_CACHE_MODES:
        yield At(
            "read_cache",
            f"got {quote(settings.read_cache)}; Intelligent-Tiering requires a mode for its SSD read cache",
            ", ".join(READ_CACHE_MODES),
            "PROPORTIONAL_TO_THROUGHPUT_CAPACITY is billed for 20000 GiB of SSD per 4000 MB/s",
        )
        return
    if settings.read_cache != "USER_PROVISIONED":
        if settings.read_cache_gib is not None:
            problem = f"got {quote(settings.read_cache_gib)} with {settings.read_cache}"
            yield At("read_cache_gib", problem, remedy="Leave it out, or set read_cache to USER_PROVISIONED")
        return
    steps = max((settings.throughput_capacity or 0) // THROUGHPUT_CAPACITIES.step, 1)
    least, most = (bound * steps for bound in (READ_CACHE_GIB_PER_STEP[0], READ_CACHE_GIB_PER_STEP[-1]))
    if settings.read_cache_gib is None or not least <= settings.read_cache_gib <= most:
        problem = f"got {quote(settings.read_cache_gib)} for {quote(settings.throughput_capacity)} MB/s"
        yield At("read_cache_gib", problem, f"{least} to {most} GiB")


@rule("UC5004")
def version_is_offered(settings: LustreSettings) -> Iterator[At]:
    """The deployment type has the version of Lustre."""
    allowed = FILE_SYSTEM_TYPE_VERSIONS[1 if settings.deployment_type == "PERSISTENT_2" else 0 :]
    if settings.file_system_type_version not in allowed:
        problem = f"got {quote(settings.file_system_type_version)}"
        yield At("file_system_type_version", problem, ", ".join(allowed), "Use 2.15 for new file systems.")


@rule("UC5005")
def efa_and_metadata_iops_are_supported(settings: LustreSettings) -> Iterator[At]:
    """EFA and provisioned metadata IOPS are used with file systems that support them."""
    if settings.efa_enabled:
        yield from _metadata_configuration(settings, feature="EFA", path="efa_enabled")
    if settings.metadata_iops is not None:
        yield from _metadata_configuration(
            settings, feature="provisioned metadata IOPS", path="metadata_iops"
        )


@rule("UC5006")
def metadata_iops_are_offered(settings: LustreSettings) -> Iterator[At]:
    """Metadata IOPS have a value that FSx offers."""
    iops, tiered = settings.metadata_iops, _is_intelligent_tiering(settings)
    if iops is None and not tiered:
        return
    if iops not in (INTELLIGENT_TIERING_METADATA_IOPS if tiered else METADATA_IOPS):
        of_ssd = "1500, 3000, 6000 or a multiple of 12000 up to 192000"
        allowed = "6000 or 12000 with Intelligent-Tiering" if tiered else of_ssd
        yield At("metadata_iops", f"got {quote(iops)}", allowed)


def _metadata_configuration(settings: LustreSettings, *, feature: str, path: str) -> Iterator[At]:
    """Yield what prevents EFA and provisioned metadata IOPS: the deployment type or the version."""
    deployment_type, version = settings.deployment_type, settings.file_system_type_version
    if deployment_type != "PERSISTENT_2" or version != METADATA_CONFIGURATION_VERSION:
        problem = f"{feature} with {quote(deployment_type)} and Lustre {quote(version)}"
        yield At(path, problem, f"PERSISTENT_2 with Lustre {METADATA_CONFIGURATION_VERSION}")


@rule("UC5014")
def scratch_has_no_backups(settings: LustreSettings) -> Iterator[At]:
    """FSx does not back up scratch file systems."""
    if not settings.deployment_type.startswith("SCRATCH"):
        return
    problem = f"with {settings.deployment_type}, which FSx does not back up"
    remedy = "Leave it out, or use PERSISTENT_2"
    days = settings.backup_retention_days
    if days > 0 and days in BACKUP_RETENTION_DAYS:
        yield At("backup_retention_days", f"got {quote(days)} {problem}", remedy=remedy)
    if settings.copy_tags_to_backups:
        yield At("copy_tags_to_backups", f"got true {problem}", remedy=remedy)


@rule("UC5015")
def backups_are_possible(settings: LustreSettings) -> Iterator[At]:
    """Backups are kept for at most 90 days and start at a time of day in UTC."""
    days, start = settings.backup_retention_days, settings.backup_start_time
    if days not in BACKUP_RETENTION_DAYS:
        yield At("backup_retention_days", f"got {quote(days)}", "0 to 90 days")
    if start is None:
        return
    if not re.fullmatch(_TIME_OF_DAY, start):
        allowed = 'a time of day in UTC, such as "03:30"'
        yield At("backup_start_time", f"got {quote(start)}", allowed)
    elif days == 0:
        problem = f"got {quote(start)}, but no backups are kept"
        yield At("backup_start_time", problem, remedy="Set backup_retention_days, too")


SETTINGS_RULES: Final = (
    deployment_type_is_known,
    throughput_is_offered,
    storage_type_is_offered,
    size_is_offered,
    settings_are_of_one_storage_type,
    throughput_capacity_is_offered,
    read_cache_fits,
    version_is_offered,
    efa_and_metadata_iops_are_supported,
    metadata_iops_are_offered,
    scratch_has_no_backups,
    backups_are_possible,
)
"""What CreateFileSystem takes; a template is left to its answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Links:
    """A file system and all of its links to S3."""

    settings: LustreSettings
    associations: Sequence[Association]


def check_associations(associations: Sequence[Association], *, settings: LustreSettings) -> list[Finding]:
    """Return what CreateDataRepositoryAssociation would reject, as far as the settings are known."""
    return findings(LINK_RULES, Links(settings=settings, associations=associations)) if associations else []


@rule("UC5020")
def file_system_can_be_linked(links: Links) -> Iterator[At]:
    """A file system that is linked to S3 can have data repository associations."""
    settings = links.settings
    for unsupported, what in (
        (settings.deployment_type == "SCRATCH_1", "SCRATCH_1"),
        (settings.storage_type == INTELLIGENT_TIERING, "Intelligent-Tiering"),
        (settings.file_system_type_version == "2.10", "Lustre 2.10"),
    ):
        if unsupported:
            problem = f"got {len(links.associations)} with {what}, which cannot be linked to S3"
            remedy = "Leave them out, or use PERSISTENT_2 or SCRATCH_2 on SSD"
            yield At("associations", problem, remedy=remedy)


@rule("UC5014")
def linked_file_system_has_no_backups(links: Links) -> Iterator[At]:
    """FSx does not back up file systems that are linked to S3."""
    for name in ("backup_retention_days", "copy_tags_to_backups"):
        value = getattr(links.settings, name, 0)  # perhaps not known yet
        if value > 0:
            problem = f"got {quote(value)} for a file system that is linked to S3, which FSx does not back up"
            yield At(name, problem, remedy="Leave it out, because S3 holds the data, or remove the links")


@rule("UC5021")
def links_are_few(links: Links) -> Iterator[At]:
    """A file system has at most 8 data repository associations."""
    if len(links.associations) > DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM:
        allowed = f"at most {DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM} on one file system"
        yield At("associations", f"got {len(links.associations)} associations", allowed)


@rule("UC5022")
def folders_are_from_the_root(links: Links) -> Iterator[At]:
    """An association names a folder from the root of the file system."""
    for index, folder in _each(links, "file_system_path"):
        parts = folder.split("/")
        if not re.fullmatch(_FOLDER, folder) or {".", ".."} & {*parts} or len(folder) > _LONGEST_FOLDER:
            allowed = "a folder from the root of the file system, such as /datasets"
            yield At(("associations", index, "file_system_path"), f"got {quote(folder)}", allowed)


@rule("UC5025")
def prefixes_are_of_s3(links: Links) -> Iterator[At]:
    """An association names a bucket or a prefix of one as an S3 path."""
    for index, prefix in _each(links, "data_repository_path"):
        if not re.fullmatch(_S3_PATH, prefix) or len(prefix) > _LONGEST_S3_PATH:
            place = ("associations", index, "data_repository_path")
            yield At(place, f"got {quote(prefix)}", DATA_REPOSITORY.allowed)


@rule("UC5026")
def events_are_known(links: Links) -> Iterator[At]:
    """The events of an association are known and named once."""
    for name in ("import_events", "export_events"):
        for index, events in _each(links, name):
            if not {*events} <= {*ASSOCIATION_EVENTS} or len({*events}) < len(events):
                allowed = "NEW, CHANGED and DELETED, each at most once"
                yield At(("associations", index, name), f"got {quote(events)}", allowed)


@rule()
def deletions_stay_on_lustre(links: Links) -> Iterator[At]:
    """No association exports deletions."""
    for index, events in _each(links, "export_events"):
        for place, event in enumerate(events):
            path = ("associations", index, "export_events", place)
            yield from (At.of(path, finding) for finding in check_export_event(event))


def check_export_event(event: str) -> list[Finding]:
    """Check that an association does not export deletions, with which ``rm`` on Lustre deletes the object in S3 (UC5208)."""
    return require(
        event != "DELETED",
        "UC5208",
        "got DELETED, so that rm on the file system deletes checkpoints in S3",
        allowed="NEW and CHANGED",
    )


@rule("UC5023")
def folders_do_not_overlap(links: Links) -> Iterator[At]:
    """No folder of an association contains that of another."""
    yield from _overlaps(links, "file_system_path")


@rule("UC5024")
def prefixes_do_not_overlap(links: Links) -> Iterator[At]:
    """No S3 path of an association contains that of another."""
    yield from _overlaps(links, "data_repository_path")


def _each(links: Links, name: str) -> Iterator[tuple[int, Any]]:
    """Yield a field of each association that has it, with the index of the association."""
    for index, association in enumerate(links.associations):
        if hasattr(association, name):
            yield index, getattr(association, name)


def _overlaps(links: Links, name: str) -> Iterator[At]:
    places = [(index, f"{place.rstrip('/')}/") for index, place in _each(links, name)]
    for (first, one), (second, other) in combinations(places, 2):
        if one.startswith(other) or other.startswith(one):
            problem = f"{quote(other)} and {quote(one)} of associations[{first}] overlap"
            yield At(
                ("associations", second, name), problem, remedy="Link paths that do not contain each other"
            )


LINK_RULES: Final = (
    file_system_can_be_linked,
    linked_file_system_has_no_backups,
    links_are_few,
    folders_are_from_the_root,
    prefixes_are_of_s3,
    events_are_known,
    folders_do_not_overlap,
    prefixes_do_not_overlap,
)
"""What CreateDataRepositoryAssociation takes, of values and of templates."""

OWN_LINK_RULES: Final = (*LINK_RULES, deletions_stay_on_lustre)
"""The same, and what keeps the data; a template is asked for the latter at each association by itself."""

RECORDS: Final = (
    RuleRecord(
        "UC5001",
        "A Lustre deployment type is one that FSx offers.",
        remedy="Use PERSISTENT_2, or SCRATCH_2 for data that may be lost. The older types are not offered for new file systems here.",
        source="botocore 1.44.5, FSx LustreDeploymentType, 2026.",
    ),
    RuleRecord(
        "UC5002",
        "A throughput tier is offered for the deployment type.",
        remedy="Specify 125, 250, 500 or 1000 MB/s/TiB for PERSISTENT_2; omit it for SCRATCH_2, which has a fixed throughput.",
        source="botocore 1.44.5, FSx PerUnitStorageThroughput, 2026.",
        example="file_system: {per_unit_storage_throughput: 250}",
    ),
    RuleRecord(
        "UC5003",
        "A storage capacity is a size that the deployment type and tier offer.",
        remedy="Use the next larger size that the finding names. The file system can grow later, but never shrink.",
        source="botocore 1.44.5, FSx CreateFileSystem StorageCapacity, 2026; FSx for Lustre guide, EFA-enabled file systems, 2026-10.",
        example="file_system: {storage_capacity_gib: 2400}",
    ),
    RuleRecord(
        "UC5004",
        "A Lustre version is supported by the deployment type.",
        remedy="Use 2.15, which new clients support and metadata IOPS require.",
        source="botocore 1.44.5, FSx FileSystemTypeVersion, 2026.",
    ),
    RuleRecord(
        "UC5005",
        "EFA and provisioned metadata IOPS are used only with file systems that support them.",
        remedy="Use PERSISTENT_2 with Lustre 2.15, or leave `efa` and `metadata_iops` out.",
        source="FSx for Lustre guide, EFA-enabled file systems and metadata performance, 2026-10.",
        example="file_system: {deployment_type: PERSISTENT_2, metadata_iops: 6000}",
    ),
    RuleRecord(
        "UC5006",
        "Metadata IOPS have a value that FSx offers.",
        remedy="Specify 1500, 3000, 6000, or a multiple of 12000 up to 192000; 6000 or 12000 with Intelligent-Tiering.",
        source="botocore 1.44.5, FSx MetadataIops, and CloudFormation's page on MetadataConfiguration, 2026-10.",
        example="file_system: {metadata_iops: 12000}",
    ),
    RuleRecord(
        "UC5010",
        "A storage type is offered for the deployment type.",
        remedy="Use PERSISTENT_2 for Intelligent-Tiering, or SSD for scratch.",
        source="botocore 1.44.5, FSx StorageType, 2026.",
    ),
    RuleRecord(
        "UC5011",
        "A size belongs to SSD and HDD, a throughput capacity and a read cache to Intelligent-Tiering.",
        remedy="Leave it out: Intelligent-Tiering grows with its data and is sized by throughput, SSD by capacity.",
        source="botocore 1.44.5, FSx CreateFileSystemLustreConfiguration, 2026.",
    ),
    RuleRecord(
        "UC5012",
        "The throughput capacity of Intelligent-Tiering is a multiple of 4,000 MB/s.",
        remedy="Specify a multiple of 4,000 MB/s; provisioned throughput is billed whether used or not.",
        source="botocore 1.44.5, FSx ThroughputCapacityMbps, 2026.",
    ),
    RuleRecord(
        "UC5013",
        "Intelligent-Tiering has an SSD read cache within the bounds of its throughput.",
        remedy="Say NO_CACHE, PROPORTIONAL_TO_THROUGHPUT_CAPACITY, which pays for 20,000 GiB of SSD for each 4,000 MB/s, or USER_PROVISIONED with read_cache_gib.",
        source="botocore 1.44.5, FSx LustreReadCacheConfiguration, 2026.",
    ),
    RuleRecord(
        "UC5014",
        "Backups are taken of a persistent file system that is not linked to S3.",
        remedy="Omit the backups, because S3 holds the linked data, or link nothing: `link_checkpoints: false` and no associations.",
        source="FSx for Lustre guide, working with backups, 2026-10: no backups of scratch or of file systems that are linked to S3.",
        example="file_system: {backup_retention_days: 7, link_checkpoints: false}",
    ),
    RuleRecord(
        "UC5015",
        "Backups are kept for at most 90 days and start at a time of day in UTC.",
        remedy='Keep backups for 0 to 90 days, and write the start as a time of day in UTC in quotes, such as "03:30".',
        source="botocore 1.44.5, FSx AutomaticBackupRetentionDays, 2026.",
        example="file_system: {link_checkpoints: false, backup_retention_days: 90}",
    ),
    RuleRecord(
        "UC5020",
        "A file system that is linked to S3 can have data repository associations.",
        remedy="Set `link_checkpoints: false` and leave associations out, or use PERSISTENT_2 or SCRATCH_2 on SSD.",
        source="FSx for Lustre guide, data repository associations, 2026-10: not with SCRATCH_1, Lustre 2.10 or Intelligent-Tiering.",
        example="file_system: {storage_type: INTELLIGENT_TIERING, read_cache: NO_CACHE, link_checkpoints: false}",
    ),
    RuleRecord(
        "UC5021",
        "A file system has at most 8 data repository associations.",
        remedy="Put several prefixes under one and associate that; the checkpoints take one of the eight unless `link_checkpoints` is false.",
        source="FSx for Lustre quotas, 2026-10: 8 associations for each file system.",
    ),
    RuleRecord(
        "UC5022",
        "An association names a folder from the root of the file system.",
        remedy="Begin with /, the root of the file system, not with its mount path, and leave . and .. out.",
        source="botocore 1.44.5, FSx CreateDataRepositoryAssociation FileSystemPath, 2026.",
        example='file_system: {associations: [{file_system_path: /data, data_repository_path: "s3://corpora/"}]}',
    ),
    RuleRecord(
        "UC5023",
        "No folder of an association contains that of another.",
        remedy="Put the folders beside each other; /checkpoints is taken by the checkpoints.",
        source="botocore 1.44.5, FSx CreateDataRepositoryAssociation, 2026: paths do not overlap.",
    ),
    RuleRecord(
        "UC5024",
        "No S3 path of an association contains that of another.",
        remedy="Associate the prefix above once, or prefixes that lie beside each other.",
        source="botocore 1.44.5, FSx CreateDataRepositoryAssociation, 2026: paths do not overlap.",
    ),
    RuleRecord(
        "UC5025",
        "An association names a bucket or a prefix of one as an S3 path.",
        remedy="Write s3://BUCKET or s3://BUCKET/PREFIX/.",
        source="botocore 1.44.5, FSx CreateDataRepositoryAssociation DataRepositoryPath, 2026.",
        example='file_system: {associations: [{file_system_path: /data, data_repository_path: "s3://corpora/c4/"}]}',
    ),
    RuleRecord(
        "UC5026",
        "The events of an association are known and named once.",
        remedy="Name NEW, CHANGED and DELETED, each at most once; an empty list turns the direction off.",
        source="botocore 1.44.5, FSx EventType, 2026.",
    ),
    RuleRecord(
        "UC5027",
        "EFA is enabled for clients that can mount over it.",
        remedy="Leave `efa` out for these nodes: over TCP they get less from the fewer object servers of a file system with EFA.",
        source="FSx for Lustre guide, EFA-enabled file systems, 2026-10: clients of Nitro v4 and later, except the trn2 family.",
        in_templates=True,
    ),
    RuleRecord(
        "UC5208",
        "Deleting a file on a file system does not delete the object in S3.",
        remedy="Remove DELETED from the export events.",
        source="FSx for Lustre user guide, automatic export.",
        in_templates=True,
    ),
)
