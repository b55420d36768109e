"""FSx for Lustre file systems: settings that FSx rejects or clients cannot use, and links to S3."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from ultracluster_catalog.lustre.lustre import MOUNTABLE_VERSIONS, LustreSettings, default_version
from ultracluster_checks.codes import BOUNDS, LUSTRE_VERSION
from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE, nodes_of, template_types, zone_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Problem, Wrong, placed, rule
from ultracluster_spec.findings import Severity
from ultracluster_spec.lustre import (
    Association,
    check_associations,
    check_file_system,
    check_metadata_given,
    efa_has_clients,
)
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import findings

_PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "deployment_type": ("LustreConfiguration", "DeploymentType"),
    "storage_type": ("StorageType",),
    "storage_capacity_gib": ("StorageCapacity",),
    "per_unit_storage_throughput": ("LustreConfiguration", "PerUnitStorageThroughput"),
    "throughput_capacity": ("LustreConfiguration", "ThroughputCapacity"),
    "read_cache": ("LustreConfiguration", "DataReadCacheConfiguration", "SizingMode"),
    "read_cache_gib": ("LustreConfiguration", "DataReadCacheConfiguration", "SizeGiB"),
    "metadata_iops": ("LustreConfiguration", "MetadataConfiguration", "Iops"),
    "efa_enabled": ("LustreConfiguration", "EfaEnabled"),
    "backup_retention_days": ("LustreConfiguration", "AutomaticBackupRetentionDays"),
    "backup_start_time": ("LustreConfiguration", "DailyAutomaticBackupStartTime"),
    "copy_tags_to_backups": ("LustreConfiguration", "CopyTagsToBackups"),
    "file_system_type_version": ("FileSystemTypeVersion",),
}
_FLAGS: Final = {"efa_enabled", "copy_tags_to_backups"}
_TEXTS: Final = {"deployment_type", "storage_type", "read_cache", "backup_start_time", "file_system_type_version"}  # fmt: skip
# Defaults of CreateFileSystem (botocore 1.44.5).
_DEFAULTS: Final = {"deployment_type": "SCRATCH_1", "storage_type": "SSD", "backup_retention_days": 0}
_ASSOCIATION: Final = re.compile(r"associations\[(\d+)\](?:\.(\w+))?")
_ASSOCIATION_PLACES: Final = {
    "file_system_path": ("FileSystemPath",),
    "data_repository_path": ("DataRepositoryPath",),
    "import_events": ("S3", "AutoImportPolicy", "Events"),
    "export_events": ("S3", "AutoExportPolicy", "Events"),
}


def _lustre(templates: Templates) -> Iterator[Resource]:
    for resource in templates.of_type("AWS::FSx::FileSystem"):
        if resource["FileSystemType"].text == "LUSTRE" and resource["BackupId"].missing:
            yield resource


def _at(resource: Resource, path: tuple[str, ...]) -> Property:
    at = resource.properties
    for key in path:
        at = at[key]
    return at


@lru_cache(maxsize=16)
def _settings(resource: Resource) -> LustreSettings | None:
    """Return the settings of a file system; None if any of them is unknown before deployment."""
    values: dict[str, Any] = {**_DEFAULTS}
    for name, path in _PLACES.items():
        at = _at(resource, path)
        if at.missing:
            continue
        values[name] = at.flag if name in _FLAGS else at.text if name in _TEXTS else at.number
        if values[name] is None:
            return None
    metadata = resource["LustreConfiguration"]["MetadataConfiguration"]
    version = default_version(values["deployment_type"], metadata=not metadata.missing)
    return LustreSettings(**({"file_system_type_version": version} | values))


@rule("UC5202", _lustre)
def file_systems_can_be_made(resource: Resource) -> Iterator[Wrong]:
    """Find settings that CreateFileSystem would reject."""
    settings, configuration = _settings(resource), resource["LustreConfiguration"]
    metadata = configuration["MetadataConfiguration"]
    for finding in check_file_system(settings) if settings else ():
        yield Problem(_at(resource, _PLACES.get(finding.path, ())), finding)
    if settings:
        mode = metadata["Mode"].text
        yield from placed(metadata, check_metadata_given(settings, given=not metadata.missing, mode=mode))
    for name in ("ImportPath", "ExportPath", "AutoImportPolicy"):
        if configuration["DeploymentType"].text == "PERSISTENT_2" and not configuration[name].missing:
            got = f"{name} with PERSISTENT_2, which FSx refuses"
            yield configuration[name], got, "a data repository association"


@rule("UC5082", _lustre)
def export_is_not_believed(resource: Resource) -> Iterator[Wrong]:
    """Find settings of the old link to S3 that export nothing by themselves, or delete what S3 no longer has."""
    configuration = resource["LustreConfiguration"]
    export, imports = configuration["ExportPath"], configuration["AutoImportPolicy"]
    if not export.missing:
        got = "ExportPath, by which nothing is exported until a data repository task runs"
        yield export, got, "a data repository association with AutoExportPolicy"
    if imports.text == "NEW_CHANGED_DELETED":
        yield (
            imports,
            "got NEW_CHANGED_DELETED: an object that is deleted in S3 deletes the file",
            "NEW_CHANGED",
        )


@rule(LUSTRE_VERSION, _lustre)
def nodes_can_mount(resource: Resource) -> Iterator[Wrong]:
    """Find file systems of a Lustre version that the nodes of the same templates cannot mount."""
    at, configuration = resource["FileSystemTypeVersion"], resource["LustreConfiguration"]
    deployment = configuration["DeploymentType"]
    kind = str(_DEFAULTS["deployment_type"]) if deployment.missing else deployment.text
    version, default = at.text, ""
    if at.missing and kind is not None:
        version = default_version(kind, metadata=not configuration["MetadataConfiguration"].missing)
        default = f", the default of {kind}"
    if version == "2.10" and nodes_of(resource.template.templates):
        got = f"got 2.10{default}, which the Lustre client of Amazon Linux 2023 cannot mount"
        yield at, got, " or ".join(MOUNTABLE_VERSIONS)


@rule("", _lustre)
def efa_clients_can_mount(resource: Resource) -> Iterator[Wrong]:
    """Find EFA-enabled file systems whose clients all lack support for it."""
    at = resource["LustreConfiguration"]["EfaEnabled"]
    types = [template_types(each) for each in resource.template.templates.of_type(LAUNCH_TEMPLATE)]
    instance_types = list(dict.fromkeys(instance_type for each in types for instance_type in each))
    if at.flag and instance_types and [] not in types:  # the types of every launch template are known
        yield from placed(at, findings([efa_has_clients], instance_types))


@rule("", _lustre)
def associations_can_be_made(resource: Resource) -> Iterator[Wrong]:
    """Find settings that CreateDataRepositoryAssociation would reject."""
    settings = _settings(resource)
    own = resource.referrers("AWS::FSx::DataRepositoryAssociation", "FileSystemId")
    made = [_association(each) for each in own]
    if settings is None or None in made:
        return
    for finding in check_associations([each for each in made if each], settings=settings):
        place = _ASSOCIATION.match(finding.path)
        if place is None:
            of = resource if finding.path in _PLACES else own[0]
            yield Problem(_at(of, _PLACES.get(finding.path, ())), finding)
            continue
        # Name associations by logical ID instead of index.
        named = _ASSOCIATION.sub(lambda found: own[int(found[1])].logical_id, finding.problem)
        at = _at(own[int(place[1])], _ASSOCIATION_PLACES.get(place[2] or "", ()))
        yield Problem(at, replace(finding, problem=named))


def _association(resource: Resource) -> Association | None:
    folder, path = resource["FileSystemPath"].text, resource["DataRepositoryPath"].pattern
    events: dict[str, tuple[Any, ...]] = {"import_events": (), "export_events": ()}
    for name in events:
        at = _at(resource, _ASSOCIATION_PLACES[name])
        if (not at.missing and not at.items) or None in at.texts:
            return None
        events[name] = tuple(map(str, at.texts))
    if folder is None or not path.startswith("s3://"):
        return None
    return Association(
        file_system_path=folder,
        data_repository_path=path,
        import_events=events["import_events"],
        export_events=events["export_events"],
    )


@rule("UC5202")
def links_and_caches_fit(templates: Templates) -> Iterator[Wrong]:
    """Find links to a bucket without s3://, and drive caches of other storage than HDD."""
    for link in templates.of_type("AWS::FSx::DataRepositoryAssociation"):
        at = link["DataRepositoryPath"]
        if at.pattern.startswith("${") and any(each.type == "AWS::S3::Bucket" for each in at.targets):
            yield at, f"got {at.pattern}, without s3://", "s3:// and the bucket"
    for resource in _lustre(templates):
        cache, storage = resource["LustreConfiguration"]["DriveCacheType"], resource["StorageType"]
        if cache.text not in {None, "NONE"} and (storage.missing or storage.text == "SSD"):
            yield cache, f"got {cache.text} for SSD, which FSx refuses", "none, or StorageType: HDD"


@rule("UC5211", _lustre)
def file_systems_are_near_their_clients(resource: Resource) -> Iterator[Wrong]:
    """Find file systems in a zone without nodes."""
    nodes = [each for each in nodes_of(resource.template.templates) if each.in_batch]
    subnets = [at.target for each in nodes for at in each.subnets.items]
    zones = {zone_of(each) for each in subnets if each is not None}
    if not zones or None in zones:
        return
    for place in resource["SubnetIds"].items:
        zone = zone_of(place.target)
        if zone is not None and zone not in zones:
            got = f"the file system is in {zone} and the nodes are in {', '.join(sorted(map(str, zones)))}"
            got = f"{got}: slower, and cross-zone traffic is billed"
            yield place, got, "a subnet in the zone of the nodes"


@rule(BOUNDS, "AWS::FSx::FileSystem")
def lustre_is_in_one_subnet(resource: Resource) -> Iterator[Wrong]:
    """Find Lustre file systems with several subnets."""
    subnets = resource["SubnetIds"]
    if resource["FileSystemType"].text == "LUSTRE" and len(subnets.certain) > 1:
        yield subnets, f"got {len(subnets.certain)} subnets", "one subnet"


RECORDS: Final = (
    RuleRecord(
        "UC5082",
        "A link to S3 exports what it seems to export, and deletes no files.",
        severity=Severity.WARNING,
        remedy="Use data repository associations, and leave out events of deletions.",
        source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html and FSx for Lustre guide, exporting changes with tasks, 2026-11.",
    ),
    RuleRecord(
        "UC5202",
        "A file system of type PERSISTENT_2 is linked to S3 by associations.",
        remedy="Use a data repository association.",
        source="FSx for Lustre user guide, linking to a bucket.",
    ),
    RuleRecord(
        "UC5211",
        "A file system is in the Availability Zone of its nodes.",
        severity=Severity.WARNING,
        remedy="Put the file system into the subnet of the nodes.",
        source="EC2 pricing, data transfer between zones; FSx for Lustre performance guide.",
    ),
)
