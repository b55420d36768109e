"""FSx for Lustre file systems: what their clients can use, and what links to S3 do not export."""

from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.lustre.lustre import MOUNTABLE_VERSIONS, default_version
from ultracluster_checks.codes import LUSTRE_VERSION
from ultracluster_checks.model.nodes import LAUNCH_TEMPLATE, nodes_of, template_types, zone_of
from ultracluster_checks.model.template import Resource, Templates
from ultracluster_checks.problem import Wrong, placed, rule
from ultracluster_spec.findings import Severity
from ultracluster_spec.lustre import efa_has_clients
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.rules import findings

_DEFAULT_DEPLOYMENT: Final = "SCRATCH_1"  # of CreateFileSystem (botocore 1.44.5)


def _lustre(templates: Templates) -> Iterator[Resource]:
    for resource in templates.of_type("AWS::FSx::FileSystem"):
        if resource["FileSystemType"].text == "LUSTRE" and resource["BackupId"].missing:
            yield resource


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
    kind = _DEFAULT_DEPLOYMENT if deployment.missing else deployment.text
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
