"""Amazon EFS: file systems that their nodes and tasks can reach."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import groups_at
from ultracluster_checks.model.template import Resource, places
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.security_groups import group_rules

_FILE_SYSTEM: Final = "AWS::EFS::FileSystem"
_TARGET: Final = "AWS::EFS::MountTarget"
_NFS: Final = 2049


@rule("UC5218", _TARGET)
def mount_targets_are_open(target: Resource) -> Iterator[Wrong]:
    """Find mount targets whose groups let nobody in on TCP 2049: Amazon EFS user guide, security groups (2026-11)."""
    groups = groups_at(target["SecurityGroups"])
    if groups and not any(
        each.holds_port(_NFS, _NFS) for group in groups for each in group_rules(group, "in")
    ):
        yield target["SecurityGroups"], "no group lets anybody in on TCP port 2049", "a rule for the clients"


@rule("UC5218", _FILE_SYSTEM)
def mounted_file_systems_can_be_mounted(file_system: Resource) -> Iterator[Wrong]:
    """Find file systems that are mounted and have no mount target: Amazon EFS user guide, managing mount targets (2026-11)."""
    templates = file_system.template.templates
    paths = (("EC2::LaunchTemplate", "LaunchTemplateData.UserData"), ("EC2::Instance", "UserData"), ("ECS::TaskDefinition", "Volumes"))  # fmt: skip
    using = [at for kind, path in paths for at in places(templates, kind, path) if file_system in at.targets]
    targets = {each["FileSystemId"].target for each in templates.of_type(_TARGET)}
    if using and not targets & {file_system, None}:
        got = f"{using[0].resource.logical_id} mounts it, and it has no mount target"
        yield file_system.properties, got, "a mount target in the zone of its clients"
