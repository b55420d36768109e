"""Checks of existing file systems: mountable, close to the nodes, and reachable."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from ultracluster_catalog.lustre.lustre import (
    LUSTRE_PORTS,
    METADATA_CONFIGURATION_VERSION,
    MOUNTABLE_VERSIONS,
)
from ultracluster_runtime.preflight.check import Outcome, check, failed, passed, skipped, warned
from ultracluster_runtime.preflight.network import covers_ports
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Part
from ultracluster_spec.record import RuleRecord

Description = Mapping[str, Any]

_FILE_SYSTEM: Final = "UC9452"


def _systems(account: Account) -> Iterator[Part]:
    """Yield the file systems that exist before the deployment."""
    for cluster in account.clusters:
        if (file_system_id := cluster.file_system.file_system_id) is not None:
            yield Part(cluster=cluster, name=file_system_id)


_system_check: Final = partial(check, subjects=_systems)


def _find_file_system(reader: AwsReader, system: Part) -> Description | None:
    return reader.find(
        "fsx:DescribeFileSystems",
        system.region,
        "FileSystems",
        absent=("FileSystemNotFound",),
        FileSystemIds=[system.name],
    )


@_system_check(_FILE_SYSTEM, _find_file_system)
def _check_system(system: Part, description: Description | None) -> Outcome:  # noqa: PLR0911 - one for each way to fail
    if description is None:
        return failed(
            f"{system.region} has no {system.name} in this account",
            "Correct file_system_id",
        )
    if description.get("FileSystemType") != "LUSTRE":
        return failed(
            f"it is of type {description.get('FileSystemType')}", "Use an FSx for Lustre file system"
        )
    mount = description.get("LustreConfiguration", {}).get("MountName")
    if mount != system.cluster.file_system.mount_name:
        return failed(
            f"its mount name is {mount}; the rollout says {system.cluster.file_system.mount_name}",
            f"Set mount_name: {mount}",
        )
    version = description.get("FileSystemTypeVersion")
    if version not in {None, *MOUNTABLE_VERSIONS}:
        return failed(
            f"it is of Lustre {version}, which the client of Amazon Linux 2023 cannot mount: no node would join",
            f"Unmount it everywhere, then run `aws fsx update-file-system --region {system.region} --file-system-id {system.name} "
            f"--file-system-type-version {METADATA_CONFIGURATION_VERSION}`",
        )
    state = description.get("Lifecycle", "")
    if state in {"AVAILABLE", "UPDATING"}:
        return passed(f"it is {state}, mounted as {mount}")
    if state == "CREATING":
        return warned(
            "it is CREATING", "Wait until it is AVAILABLE before nodes start; otherwise they do not join"
        )
    return failed(f"it is {state}", "Repair it, or use another file system")


def _place(reader: AwsReader, system: Part) -> tuple[str, str | None]:
    description = _find_file_system(reader, system) or {}
    subnets = description.get("SubnetIds", [])
    zone = None
    if subnets:
        absent = ("InvalidSubnetID.NotFound",)
        subnet = reader.find(
            "ec2:DescribeSubnets", system.region, "Subnets", absent=absent, SubnetIds=subnets[:1]
        )
        zone = subnet["AvailabilityZoneId"] if subnet else None
    return str(description.get("VpcId", "")), zone


@_system_check("UC9453", _place, after=(_FILE_SYSTEM,))
def _check_place(system: Part, evidence: tuple[str, str | None]) -> Outcome:
    """Check that the file system is in the VPC and zone of the nodes; other VPCs have no DNS name or route to it."""
    vpc, zone = evidence
    if system.cluster.network.vpc_id is None:
        return failed(
            f"it is in {vpc}, and the rollout creates a new VPC, which has no route to it",
            f"Set network.vpc_id: {vpc} and one of its subnets",
        )
    if vpc != system.cluster.network.vpc_id:
        return failed(
            f"it is in {vpc}, the nodes in {system.cluster.network.vpc_id}",
            "Use a subnet of its VPC, or another file system",
        )
    if zone is None:
        return warned(f"it is in {vpc}; the zone of its subnet is unknown", "Look it up in the console")
    if zone != system.cluster.zone_id:
        return failed(
            f"it is in {zone}, the nodes in {system.cluster.zone_id}: traffic across zones is slow and billed per GB",
            "Use a file system in the zone of the capacity",
        )
    return passed(f"it is in {vpc} and {zone}, like the nodes")


def _groups_of_file_system(reader: AwsReader, system: Part) -> list[Description]:
    interfaces = (_find_file_system(reader, system) or {}).get("NetworkInterfaceIds", [])
    if not interfaces:
        return []
    interface = reader.find(
        "ec2:DescribeNetworkInterfaces",
        system.region,
        "NetworkInterfaces",
        absent=("InvalidNetworkInterfaceID.NotFound",),
        NetworkInterfaceIds=interfaces[:1],
    )
    ids = [group["GroupId"] for group in (interface or {}).get("Groups", [])]
    if not ids:
        return []
    response = reader.call("ec2:DescribeSecurityGroups", system.region, GroupIds=ids)
    return list(response["SecurityGroups"])


@_system_check("UC9454", _groups_of_file_system, after=(_FILE_SYSTEM,))
def _check_ports(system: Part, groups: list[Description]) -> Outcome:
    """Check that its security groups allow Lustre traffic, by existing rules or those that the deployment adds."""
    ids = {group["GroupId"] for group in groups}
    if not groups:
        return skipped("its network interfaces are not visible")
    if system.cluster.file_system.security_group_id is not None:
        if system.cluster.file_system.security_group_id in ids:
            return passed(
                f"the deployment adds rules for the nodes to {system.cluster.file_system.security_group_id}"
            )
        return failed(
            f"it has {', '.join(sorted(ids))}, not {system.cluster.file_system.security_group_id}, to which the rules are added",
            f"Set file_system.security_group_id: {min(ids)}",
        )
    rules = [rule for group in groups for rule in group.get("IpPermissions", [])]
    closed = [
        f"{low}-{high}"
        for low, high in LUSTRE_PORTS
        if not any(covers_ports(rule, low, high) for rule in rules)
    ]
    names = ", ".join(sorted(ids))
    remedy = f"Set file_system.security_group_id: {min(ids)}, so that the deployment adds the rules"
    if closed:
        return failed(f"{names} allow no traffic on TCP {', '.join(closed)}", remedy)
    return warned(f"{names} allow Lustre traffic; whether from the nodes is unknown", remedy)


# Amazon S3 Files


def _files(account: Account) -> Iterator[Part]:
    """Yield the file systems of S3 Files that jobs mount."""
    for cluster in account.clusters:
        names = [mount.file_system_arn for job in cluster.jobs for mount in job.mounts]
        yield from (Part(cluster=cluster, name=name) for name in dict.fromkeys(names) if name is not None)


def _mount_targets(reader: AwsReader, files: Part) -> list[Description] | None:
    absent = ("ResourceNotFoundException",)
    # One in each zone, and so on one page.
    found = reader.call_or_none(
        "s3files:ListMountTargets", files.region, absent=absent, fileSystemId=files.name
    )
    return None if found is None else list(found["mountTargets"])


@check("UC9482", _mount_targets, subjects=_files)
def _check_mount_target(files: Part, targets: list[Description] | None) -> Outcome:
    """Check that S3 Files have the mount target that is named, or room for that of the deployment."""
    cluster = files.cluster
    if targets is None:
        return failed(
            f"{files.region} has no {files.name} in this account", "Correct the source of the mount"
        )
    named = any(
        mount.security_group_id
        for job in cluster.jobs
        for mount in job.mounts
        if mount.file_system_arn == files.name
    )
    here = [each for each in targets if each.get("availabilityZoneId") == cluster.zone_id]
    if named and not here:
        remedy = "Remove security_group_id of the mount, so that the deployment creates one"
        return failed(f"it has no mount target in {cluster.zone_id}", remedy)
    vpcs = sorted({str(each.get("vpcId")) for each in targets})
    if vpcs and cluster.network.vpc_id not in {None, *vpcs}:
        return failed(
            f"its mount targets are in {vpcs[0]}, the nodes in {cluster.network.vpc_id}, and it can have them in one VPC",
            f"Set network.vpc_id: {vpcs[0]}, or use another file system",
        )
    if targets and not named and (here or cluster.network.vpc_id is None):
        return warned(
            f"it has a mount target in {targets[0].get('availabilityZoneId')} of {vpcs[0]}; the deployment fails unless it created that",
            "If it did not, use the VPC, and set security_group_id of the mount to the group of its mount target in the zone",
        )
    return passed(f"it is in {files.region}, with {len(targets)} mount targets")


RECORDS: Final = (
    RuleRecord(
        "UC9452",
        "The existing file system is FSx for Lustre and can be mounted.",
        remedy="Correct file_system_id and mount_name as the finding says.",
        source="botocore 1.44.5, FSx DescribeFileSystems, 2026.",
    ),
    RuleRecord(
        "UC9453",
        "The existing file system is in the VPC and the zone of the nodes.",
        remedy="Use a subnet of its VPC in its zone, or another file system.",
        source="FSx for Lustre guide, accessing file systems, 2026-10.",
    ),
    RuleRecord(
        "UC9454",
        "The existing file system accepts connections from the nodes.",
        remedy="Set file_system.security_group_id as the finding says: the deployment adds the rules.",
        source="FSx for Lustre guide, limit access with security groups, 2026-10.",
    ),
    RuleRecord(
        "UC9482",
        "S3 Files of a job exist, and have a mount target in the zone of the nodes or room for one.",
        remedy="Correct the ARN, or name the security group of the mount target in the VPC and zone of the nodes.",
        source="Amazon S3 user guide, unsupported features, limits, and quotas of S3 Files, 2026-10: one mount target in each zone, all in one VPC.",
    ),
)
