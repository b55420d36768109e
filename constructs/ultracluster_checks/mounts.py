"""Amazon EFS: file systems that their nodes and tasks can reach and are allowed to mount."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import groups_at, nodes_of
from ultracluster_checks.model.permissions import may_allow
from ultracluster_checks.model.template import Property, Resource
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
    users = [nodes.data["UserData"] for nodes in nodes_of(templates)]
    users += [each["UserData"] for each in templates.of_type("AWS::EC2::Instance")]
    users += [
        each["LaunchTemplateData"]["UserData"] for each in templates.of_type("AWS::EC2::LaunchTemplate")
    ]
    volumes = [each["Volumes"] for each in templates.of_type("AWS::ECS::TaskDefinition")]
    mounting = [at for at in (*users, *volumes) if file_system in at.targets]
    targets = list(templates.of_type(_TARGET))
    reached = any(each["FileSystemId"].target in {file_system, None} for each in targets)
    if mounting and not reached:
        got = f"{mounting[0].resource.logical_id} mounts it, and it has no mount target"
        yield file_system.properties, got, "a mount target in the zone of its clients"
    named = _named(file_system["FileSystemPolicy"])
    for at in mounting if named else ():
        for options, name in _MOUNT.findall(at.pattern):
            if name == file_system.logical_id and "iam" not in options.split(","):
                got = f"{file_system.logical_id} is mounted without the option iam, and its policy allows named roles only"
                yield at, got, "-t efs -o tls,iam"
                return


def _named(policy: Property) -> bool:
    """Return whether a policy allows something, and only to named principals."""
    allowed = [each["Principal"] for each in may_allow(policy)]
    known = [each["AWS"].one_or_more for each in allowed]
    return bool(known) and all(places and all(at.targets for at in places) for places in known)
