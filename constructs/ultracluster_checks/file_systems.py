"""FSx for Lustre file systems: settings that FSx rejects or clients cannot use, and links to S3."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_checks.machines import COMPUTE_ENVIRONMENT, LAUNCH_TEMPLATE, template_types
from ultracluster_checks.problem import Problem
from ultracluster_checks.subnets import zone_of
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_rules.findings import Finding
from ultracluster_rules.lustre import (
    check_associations,
    check_efa_clients,
    check_file_system,
    check_metadata_given,
)

FILE_SYSTEM: Final = "AWS::FSx::FileSystem"
ASSOCIATION: Final = "AWS::FSx::DataRepositoryAssociation"

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
_TEXTS: Final = {
    "deployment_type",
    "storage_type",
    "read_cache",
    "backup_start_time",
    "file_system_type_version",
}
# Defaults of CreateFileSystem (botocore 1.44.5).
_DEFAULTS: Final[Mapping[str, Any]] = {
    "deployment_type": "SCRATCH_1",
    "storage_type": "SSD",
    "backup_retention_days": 0,
}
_ASSOCIATION: Final = re.compile(r"associations\[(\d+)\](?:\.(\w+))?")
_ASSOCIATION_PLACES: Final = {
    "file_system_path": ("FileSystemPath",),
    "data_repository_path": ("DataRepositoryPath",),
    "import_events": ("S3", "AutoImportPolicy", "Events"),
    "export_events": ("S3", "AutoExportPolicy", "Events"),
}


def _lustre(templates: Templates) -> Iterator[Resource]:
    for resource in templates.of_type(FILE_SYSTEM):
        if resource["FileSystemType"].text == "LUSTRE" and resource["BackupId"].missing:
            yield resource


def _at(resource: Resource, path: tuple[str, ...]) -> Property:
    at = resource.properties
    for key in path:
        at = at[key]
    return at


def _settings(resource: Resource) -> LustreSettings | None:
    """Return the settings of a file system; None if any of them is unknown before deployment."""
    values: dict[str, Any] = {}
    for name, path in _PLACES.items():
        at = _at(resource, path)
        if at.missing:
            if name in _DEFAULTS:
                values[name] = _DEFAULTS[name]
            continue
        value = at.flag if name in _FLAGS else at.text if name in _TEXTS else at.number
        if value is None:
            return None
        values[name] = value
    values.setdefault("file_system_type_version", _default_version(resource, values["deployment_type"]))
    return LustreSettings(**values)


def _default_version(resource: Resource, deployment_type: str) -> str:
    if deployment_type != "PERSISTENT_2":
        return "2.10"
    return "2.12" if resource["LustreConfiguration"]["MetadataConfiguration"].missing else "2.15"


def file_systems_can_be_made(templates: Templates) -> Iterator[Problem]:
    """Find settings that CreateFileSystem would reject."""
    for resource in _lustre(templates):
        settings = _settings(resource)
        if settings is None:
            continue
        for finding in check_file_system(settings):
            yield _placed(resource, finding)
        metadata = resource["LustreConfiguration"]["MetadataConfiguration"]
        for finding in check_metadata_given(settings, given=not metadata.missing, mode=metadata["Mode"].text):
            yield Problem(metadata, finding)


def _placed(resource: Resource, finding: Finding) -> Problem:
    at = _at(resource, _PLACES.get(finding.path, ()))
    return Problem(at, finding)


def newest_type_has_no_import_path(templates: Templates) -> Iterator[Problem]:
    """Find PERSISTENT_2 file systems with ImportPath or ExportPath, which they do not support."""
    for resource in _lustre(templates):
        configuration = resource["LustreConfiguration"]
        for name in ("ImportPath", "ExportPath", "AutoImportPolicy"):
            if configuration["DeploymentType"].text == "PERSISTENT_2" and not configuration[name].missing:
                yield Problem.of(
                    configuration[name],
                    "UC5202",
                    f"{name} with PERSISTENT_2, which FSx refuses",
                    "a data repository association",
                )


def efa_clients_can_mount(templates: Templates) -> Iterator[Problem]:
    """Find EFA-enabled file systems whose clients all lack support for it."""
    machines = _machines(templates)
    findings = check_efa_clients(machines) if machines else []
    for resource in _lustre(templates):
        at = resource["LustreConfiguration"]["EfaEnabled"]
        for finding in findings if at.flag else ():
            yield Problem(at, finding)


def _machines(templates: Templates) -> list[InstanceType]:
    """Return the instance types of all launch templates; None if any is unknown."""
    found: list[InstanceType] = []
    for template in templates.of_type(LAUNCH_TEMPLATE):
        machines = template_types(template)
        if not machines:
            return []
        found += machines
    return list(dict.fromkeys(found))


def associations_can_be_made(templates: Templates) -> Iterator[Problem]:
    """Find settings that CreateDataRepositoryAssociation would reject."""
    for resource in _lustre(templates):
        settings = _settings(resource)
        own = [each for each in templates.of_type(ASSOCIATION) if each["FileSystemId"].target is resource]
        made = [_association(each) for each in own]
        if settings is None or None in made:
            continue
        for finding in check_associations([each for each in made if each], settings=settings):
            place = _ASSOCIATION.match(finding.path)
            if place is None:
                yield _placed(resource if finding.path in _PLACES else own[0], finding)
                continue
            at = own[int(place[1])].properties
            for key in _ASSOCIATION_PLACES.get(place[2] or "", ()):
                at = at[key]
            yield Problem(at, replace(finding, problem=_named(finding.problem, own)))


def _named(problem: str, associations: list[Resource]) -> str:
    """Name associations by logical ID instead of index."""
    return _ASSOCIATION.sub(lambda found: associations[int(found[1])].logical_id, problem)


def _association(resource: Resource) -> DataRepositoryAssociation | None:
    folder, path = resource["FileSystemPath"].text, resource["DataRepositoryPath"].pattern
    events: dict[str, tuple[str, ...]] = {"import_events": (), "export_events": ()}
    for name in events:
        at = _at(resource, _ASSOCIATION_PLACES[name])
        texts = [item.text for item in at.items]
        if (not at.missing and not at.items) or None in texts:
            return None
        events[name] = tuple(text for text in texts if text is not None)
    if folder is None or not path.startswith("s3://"):
        return None
    return DataRepositoryAssociation(
        file_system_path=folder,
        data_repository_path=path,
        import_events=events["import_events"],
        export_events=events["export_events"],
    )


def file_systems_are_near_their_clients(templates: Templates) -> Iterator[Problem]:
    """Find file systems in a zone without nodes."""
    zones = {
        zone_of(subnet.target)
        for environment in templates.of_type(COMPUTE_ENVIRONMENT)
        for subnet in environment["ComputeResources"]["Subnets"].items
        if subnet.target is not None
    }
    if not zones or None in zones:
        return
    for resource in _lustre(templates):
        for place in resource["SubnetIds"].items:
            zone = zone_of(place.target) if place.target is not None else None
            if zone is not None and zone not in zones:
                yield Problem.of(
                    place,
                    "UC5211",
                    f"the file system is in {zone} and the nodes are in {', '.join(sorted(map(str, zones)))}: slower, and cross-zone "
                    "traffic is billed",
                    "a subnet in the zone of the nodes",
                )
