"""FSx for Lustre file systems: what their clients can use, and links to S3."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, cast

from ultracluster_catalog.lustre.lustre import MOUNTABLE_VERSIONS, LustreSettings, default_version
from ultracluster_checks.codes import LUSTRE_VERSION
from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE, nodes_of, template_types, zone_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Problem, Wrong, placed, rule
from ultracluster_spec.findings import Severity
from ultracluster_spec.lustre import DATA_REPOSITORY, Association, Event, check_associations, efa_has_clients
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import findings

# Defaults of CreateFileSystem (botocore 1.44.5).
_DEFAULTS: Final = {"deployment_type": "SCRATCH_1", "storage_type": "SSD", "backup_retention_days": 0}
_PLACE: Final = re.compile(r"associations\[(\d+)\](?:\.(\w+))?")


def _lustre(templates: Templates) -> Iterator[Resource]:
    for resource in templates.of_type("AWS::FSx::FileSystem"):
        if resource["FileSystemType"].text == "LUSTRE" and resource["BackupId"].missing:
            yield resource


def _settings(resource: Resource) -> LustreSettings | None:
    """Return what decides about the links of a file system; None if any of it is unknown before deployment."""
    configuration = resource["LustreConfiguration"]
    given = {
        "deployment_type": configuration["DeploymentType"],
        "storage_type": resource["StorageType"],
        "file_system_type_version": resource["FileSystemTypeVersion"],
        "backup_retention_days": configuration["AutomaticBackupRetentionDays"],
    }
    values: dict[str, Any] = _DEFAULTS | {
        name: at.number if name.endswith("_days") else at.text for name, at in given.items() if not at.missing
    }
    if None in values.values():
        return None
    metadata = not configuration["MetadataConfiguration"].missing
    version = default_version(values["deployment_type"], metadata=metadata)
    return LustreSettings(**({"file_system_type_version": version} | values))


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
    """Find what CreateDataRepositoryAssociation would reject when its file system is already billed."""
    settings = _settings(resource)
    own = resource.referrers("AWS::FSx::DataRepositoryAssociation", "FileSystemId")
    for at in (each["DataRepositoryPath"] for each in own):
        if at.pattern.startswith("${") and any(each.type == "AWS::S3::Bucket" for each in at.targets):
            yield Problem.of(at, DATA_REPOSITORY.code, f"got {at.pattern}", "s3:// and the bucket")
    made = [_association(each) for each in own]
    if settings is None or None in made:
        return
    for finding in check_associations([each for each in made if each], settings=settings):
        place = _PLACE.match(finding.path)
        # Name associations by logical ID instead of index.
        named = _PLACE.sub(lambda found: own[int(found[1])].logical_id, finding.problem)
        at = _places(own[int(place[1])])[place[2]] if place and place[2] else own[0].properties
        yield Problem(at, replace(finding, problem=named))


def _places(association: Resource) -> dict[str, Property]:
    """Return the properties of an association by the names of its value."""
    return {
        "file_system_path": association["FileSystemPath"],
        "data_repository_path": association["DataRepositoryPath"],
        "import_events": association["S3"]["AutoImportPolicy"]["Events"],
        "export_events": association["S3"]["AutoExportPolicy"]["Events"],
    }


def _association(resource: Resource) -> Association | None:
    folder, path, *events = _places(resource).values()
    unknown = any((not at.missing and not at.items) or None in at.texts for at in events)
    if unknown or folder.text is None or not path.pattern.startswith("s3://"):
        return None
    imports, exports = (cast("tuple[Event, ...]", tuple(at.texts)) for at in events)
    return Association(
        file_system_path=folder.text,
        data_repository_path=path.pattern,
        import_events=imports,
        export_events=exports,
    )


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


RECORDS: Final = (
    RuleRecord(
        "UC5082",
        "A link to S3 exports what it seems to export, and deletes no files.",
        severity=Severity.WARNING,
        remedy="Use data repository associations, and leave out events of deletions.",
        source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html and FSx for Lustre guide, exporting changes with tasks, 2026-11.",
    ),
    RuleRecord(
        "UC5211",
        "A file system is in the Availability Zone of its nodes.",
        severity=Severity.WARNING,
        remedy="Put the file system into the subnet of the nodes.",
        source="EC2 pricing, data transfer between zones; FSx for Lustre performance guide.",
    ),
)
