"""Amazon EFS: file systems that their nodes and tasks can reach and are allowed to mount."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import groups_at
from ultracluster_checks.model.permissions import may_allow
from ultracluster_checks.model.template import Resource, places
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.security_groups import group_rules

_FILE_SYSTEM: Final = "AWS::EFS::FileSystem"
_TARGET: Final = "AWS::EFS::MountTarget"
_NFS: Final = 2049
_MOUNT: Final = re.compile(r"mount\s+-t\s+(?:efs|nfs4?)\s+(?:-o\s+(\S+)\s+)?\$\{(\w+)")


@rule("UC5218", _TARGET)
def mount_targets_are_open(target: Resource) -> Iterator[Wrong]:
    """Find mount targets whose security groups let nobody in on the port of NFS.

    Amazon EFS user guide, creating security groups for mount targets (2026-11): clients need TCP 2049.
    """
    groups = groups_at(target["SecurityGroups"])
    if groups and not any(
        each.holds_port(_NFS, _NFS) for group in groups for each in group_rules(group, "in")
    ):
        yield target["SecurityGroups"], "no group lets anybody in on TCP port 2049", "a rule for the clients"


@rule("UC5218", _FILE_SYSTEM)
def mounted_file_systems_can_be_mounted(file_system: Resource) -> Iterator[Wrong]:
    """Find file systems that are mounted without a mount target, or by clients that their policy does not know.

    Amazon EFS user guide, managing mount targets, and using IAM to control file system data access (2026-11): without the
    option iam, a client is anonymous.
    """
    templates = file_system.template.templates
    paths = (("EC2::LaunchTemplate", "LaunchTemplateData.UserData"), ("EC2::Instance", "UserData"), ("ECS::TaskDefinition", "Volumes"))  # fmt: skip
    using = [at for kind, path in paths for at in places(templates, kind, path) if file_system in at.targets]
    targets = {each["FileSystemId"].target for each in templates.of_type(_TARGET)}
    if using and not targets & {file_system, None}:
        got = f"{using[0].resource.logical_id} mounts it, and it has no mount target"
        yield file_system.properties, got, "a mount target in the zone of its clients"
    allowed = [each["Principal"]["AWS"].one_or_more for each in may_allow(file_system["FileSystemPolicy"])]
    named = bool(allowed) and all(each and all(at.targets for at in each) for each in allowed)
    mounts = [(at, *found) for at in using for found in _MOUNT.findall(at.pattern) if named]
    for at, options, name in mounts:
        if name == file_system.logical_id and "iam" not in options.split(","):
            got = f"{name} is mounted without the option iam, and its policy allows named roles only"
            yield at, got, "-t efs -o tls,iam"
