"""Amazon EFS: file systems that their nodes and tasks can reach."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import groups_at
from ultracluster_checks.model.permissions import conditions_of, may_allow, role_behind
from ultracluster_checks.model.template import Property, Resource, places
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
    using = _using(file_system)
    targets = {each["FileSystemId"].target for each in file_system.template.templates.of_type(_TARGET)}
    if using and not targets & {file_system, None}:
        got = f"{using[0].resource.logical_id} mounts it, and it has no mount target"
        yield file_system.properties, got, "a mount target in the zone of its clients"


@rule("UC5218", _FILE_SYSTEM)
def policies_admit_those_who_mount(file_system: Resource) -> Iterator[Wrong]:
    """Find policies that leave out nodes that mount the file system: their role, or that they have one without the option iam.

    Amazon EFS user guide, using IAM to control file system data access (2026-11).
    """
    policy = file_system["FileSystemPolicy"]
    principals = [each["Principal"] for each in may_allow(policy)]
    named = [at for principal in principals for at in (principal, *principal["AWS"].one_or_more)]
    if not named or any(at.pattern == "*" or at.unknown for at in named):
        return
    for at in _using(file_system):
        if at.path[-1] == "UserData" and not re.search(r"-o\s+\S*\biam\b", at.pattern):
            got = f"mounts {file_system.logical_id} without the option iam, and its policy allows named principals only"
            yield at, got, "mount -t efs -o tls,iam"
        profile = at.resource["LaunchTemplateData"]["IamInstanceProfile"]
        role = role_behind(profile["Arn"]) or role_behind(profile["Name"])
        if role is not None and not any(_admits(each, role) for each in may_allow(policy)):
            got = f"the policy admits others than {role.logical_id}, which mounts the file system"
            yield policy, got, f"{role.logical_id}.Arn"


def _admits(statement: Property, role: Resource) -> bool:
    """Return whether a statement of a policy is for a role, or may be."""
    keys = [key for key in conditions_of(statement) if str(key.path[-1]).lower() == "aws:principalarn"]
    arns = [at for key in keys for at in key.one_or_more]
    met = all("*" in at.pattern or at.unknown or role in at.targets for at in arns)
    return met and any(
        role in at.targets or not at.targets for at in statement["Principal"]["AWS"].one_or_more
    )


def _using(file_system: Resource) -> list[Property]:
    """Return the user data and volumes of tasks that mount a file system."""
    paths = (("EC2::LaunchTemplate", "LaunchTemplateData.UserData"), ("EC2::Instance", "UserData"), ("ECS::TaskDefinition", "Volumes"))  # fmt: skip
    places_ = (at for kind, path in paths for at in places(file_system.template.templates, kind, path))
    return [at for at in places_ if file_system in at.targets]
