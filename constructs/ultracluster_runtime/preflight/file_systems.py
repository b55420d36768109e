"""Checks of an existing file system: that it can be mounted, is beside the nodes, and lets them in."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS
from ultracluster_runtime.preflight.check import (
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    skipped,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import FileSystemNeeds, RolloutNeeds

__all__ = ["FILE_SYSTEM_CHECKS"]

Shown = Mapping[str, Any]

_FILE_SYSTEM: Final = "UC9452"


def _systems(rollout: RolloutNeeds) -> Iterator[FileSystemNeeds]:
    yield from (cluster.file_system for cluster in rollout.clusters if cluster.file_system is not None)


def _system(reads: Reads, needs: FileSystemNeeds) -> Shown | None:
    answer = reads.find(
        "fsx",
        needs.region,
        "DescribeFileSystems",
        absent=("FileSystemNotFound",),
        FileSystemIds=[needs.file_system_id],
    )
    return answer["FileSystems"][0] if answer and answer["FileSystems"] else None


def _judge_system(needs: FileSystemNeeds, shown: Shown | None) -> Outcome:
    """Whether nodes can mount it as the rollout says."""
    if shown is None:
        return failed(
            f"{needs.region} shows this account no {needs.file_system_id}", "Correct file_system_id"
        )
    if shown.get("FileSystemType") != "LUSTRE":
        return failed(f"it is of type {shown.get('FileSystemType')}", "Take one of Lustre")
    mount = shown.get("LustreConfiguration", {}).get("MountName")
    if mount != needs.mount_name:
        return failed(
            f"its mount name is {mount}; the rollout says {needs.mount_name}", f"Set mount_name: {mount}"
        )
    state = shown.get("Lifecycle", "")
    if state in {"AVAILABLE", "UPDATING"}:
        return passed(f"it is {state}, mounted as {mount}")
    if state == "CREATING":
        return warned("it is CREATING", "Wait until it is AVAILABLE before nodes start: they would not join")
    return failed(f"it is {state}", "Repair it, or take another one")


def _place(reads: Reads, needs: FileSystemNeeds) -> tuple[str, str | None]:
    shown = _system(reads, needs) or {}
    subnets = shown.get("SubnetIds", [])
    zone = None
    if subnets:
        answer = reads.find(
            "ec2",
            needs.region,
            "DescribeSubnets",
            absent=("InvalidSubnetID.NotFound",),
            SubnetIds=subnets[:1],
        )
        zone = answer["Subnets"][0]["AvailabilityZoneId"] if answer and answer["Subnets"] else None
    return str(shown.get("VpcId", "")), zone


def _judge_place(needs: FileSystemNeeds, seen: tuple[str, str | None]) -> Outcome:
    """Whether it is beside the nodes: in their VPC, or no name and no route leads to it, and in their zone."""
    vpc, zone = seen
    if needs.vpc_id is None:
        return failed(
            f"it is in {vpc}, and the rollout makes a new VPC, from which nothing leads there",
            f"Set network.vpc_id: {vpc} and a subnet of it",
        )
    if vpc != needs.vpc_id:
        return failed(
            f"it is in {vpc}, the nodes in {needs.vpc_id}", "Use a subnet of its VPC, or another file system"
        )
    if zone is None:
        return warned(f"it is in {vpc}; the zone of its subnet cannot be seen", "Look for it in the console")
    if zone != needs.zone_id:
        return failed(
            f"it is in {zone}, the nodes in {needs.zone_id}: every byte is paid across zones, and slow",
            "Use one in the zone of the capacity",
        )
    return passed(f"it is in {vpc} and {zone}, as the nodes")


def _groups(reads: Reads, needs: FileSystemNeeds) -> list[Shown]:
    interfaces = (_system(reads, needs) or {}).get("NetworkInterfaceIds", [])
    if not interfaces:
        return []
    answer = reads.find(
        "ec2",
        needs.region,
        "DescribeNetworkInterfaces",
        absent=("InvalidNetworkInterfaceID.NotFound",),
        NetworkInterfaceIds=interfaces[:1],
    )
    if answer is None:
        return []
    ids = [group["GroupId"] for group in answer["NetworkInterfaces"][0].get("Groups", [])]
    if not ids:
        return []
    found: list[Shown] = reads.ask("ec2", needs.region, "DescribeSecurityGroups", GroupIds=ids)[
        "SecurityGroups"
    ]
    return found


def _judge_ports(needs: FileSystemNeeds, groups: list[Shown]) -> Outcome:
    """Whether its security groups let Lustre in: by the rules that the deployment adds, or by rules that are there."""
    ids = {group["GroupId"] for group in groups}
    if not groups:
        return skipped("its network interfaces cannot be seen")
    if needs.security_group_id is not None:
        if needs.security_group_id in ids:
            return passed(f"the deployment adds the rules for the nodes to {needs.security_group_id}")
        return failed(
            f"it has {', '.join(sorted(ids))}, not {needs.security_group_id}, which the rules are added to",
            f"Set file_system.security_group_id: {min(ids)}",
        )
    closed = [f"{low}-{high}" for low, high in LUSTRE_PORTS if not _lets_in(groups, low, high)]
    if not closed:
        return warned(
            f"{', '.join(sorted(ids))} let somebody in on Lustre's ports; whether these are the nodes is not said",
            f"Set file_system.security_group_id: {min(ids)}, and the deployment adds the rules",
        )
    return failed(
        f"{', '.join(sorted(ids))} let nobody in on TCP {', '.join(closed)}",
        f"Set file_system.security_group_id: {min(ids)}, and the deployment adds the rules",
    )


def _lets_in(groups: list[Shown], low: int, high: int) -> bool:
    return any(
        rule.get("IpProtocol") == "-1"
        or (
            rule.get("IpProtocol") == "tcp"
            and rule.get("FromPort", 0) <= low
            and high <= rule.get("ToPort", 0)
        )
        for group in groups
        for rule in group.get("IpPermissions", [])
    )


FILE_SYSTEM_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_FILE_SYSTEM,
        calls=("fsx:DescribeFileSystems",),
        subjects=_systems,
        gather=_system,
        judge=_judge_system,
        after=(REGION_IS_ENABLED,),
    ),
    Check(
        code="UC9453",
        calls=("fsx:DescribeFileSystems", "ec2:DescribeSubnets"),
        subjects=_systems,
        gather=_place,
        judge=_judge_place,
        after=(_FILE_SYSTEM,),
    ),
    Check(
        code="UC9454",
        calls=("fsx:DescribeFileSystems", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroups"),
        subjects=_systems,
        gather=_groups,
        judge=_judge_ports,
        after=(_FILE_SYSTEM,),
    ),
)
