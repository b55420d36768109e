"""Checks of existing storage: buckets, keys and file system."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_catalog.lustre import LUSTRE_PORTS
from ultracluster_runtime.preflight.check import AnyCheck, Check, Outcome, failed, passed, skipped, warned
from ultracluster_runtime.preflight.needs import BucketNeeds, FileSystemNeeds, KeyNeeds, RolloutNeeds
from ultracluster_runtime.preflight.reads import Reads

__all__ = ["STORAGE_CHECKS"]

Shown = Mapping[str, Any]

_BUCKET: Final = "UC9448"
_KEY: Final = "UC9450"
_FILE_SYSTEM: Final = "UC9452"

# Buckets


def _buckets(rollout: RolloutNeeds) -> Iterator[BucketNeeds]:
    for cluster in rollout.clusters:
        yield from cluster.buckets


def _location(reads: Reads, needs: BucketNeeds) -> str | None:
    answer = reads.find(
        "s3", needs.region, "GetBucketLocation", absent=("NoSuchBucket", "404"), Bucket=needs.name
    )
    if answer is None:
        return None
    name = answer.get("LocationConstraint") or ""
    return {"": "us-east-1", "EU": "eu-west-1"}.get(name, str(name))  # as they were called at first


def _judge_bucket(needs: BucketNeeds, region: str | None) -> Outcome:
    """Whether the bucket is there, and in the Region of the cluster."""
    if region is None:
        return failed(f"there is no bucket {needs.name}", "Make it, or correct its name")
    if region == needs.region:
        return passed(f"{needs.name} is in {region}")
    seen = f"{needs.name} is in {region}, the cluster in {needs.region}: every byte is paid across Regions"
    if needs.joined:
        return failed(
            f"{seen}, and FSx imports by itself from its own Region only", f"Copy the data to {needs.region}"
        )
    return warned(seen, f"Copy the data to {needs.region}")


def _policy(reads: Reads, needs: BucketNeeds) -> tuple[Shown | None, bool]:
    absent = ("NoSuchBucketPolicy",)
    policy = reads.find("s3", needs.region, "GetBucketPolicy", absent=absent, Bucket=needs.name)
    if policy is None:
        return None, False
    status = reads.find("s3", needs.region, "GetBucketPolicyStatus", absent=absent, Bucket=needs.name)
    return json.loads(policy["Policy"]), bool(status and status["PolicyStatus"]["IsPublic"])


def _judge_policy(needs: BucketNeeds, seen: tuple[Shown | None, bool]) -> Outcome:
    """Whether the bucket's policy keeps strangers out, and lets the jobs in."""
    policy, public = seen
    if policy is None:
        return passed("it has no policy: IAM alone decides")
    if public:
        return failed(
            f"{needs.name} is public by its policy; checkpoints and data would be the world's",
            "Take the statement out, and block public access",
        )
    shut = [one for one in _list(policy.get("Statement", [])) if _shuts_out(one)]
    if any("Condition" not in one for one in shut):
        return failed("a statement denies it to everybody", "Let the roles of the jobs in")
    if shut:
        named = ", ".join(str(one.get("Sid", "without a Sid")) for one in shut)
        return warned(
            f"statements deny it to everybody under conditions: {named}",
            "See that jobs, and FSx if it is joined, keep the conditions",
        )
    return passed("its policy is not public and shuts nobody out")


def _shuts_out(statement: Shown) -> bool:
    """Whether a statement denies something to all, other than to plain HTTP."""
    everybody = statement.get("Principal") in ("*", {"AWS": "*"})
    plain = statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
    return statement.get("Effect") == "Deny" and everybody and not plain


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# Keys


def _keys(rollout: RolloutNeeds) -> Iterator[KeyNeeds]:
    for cluster in rollout.clusters:
        yield from cluster.keys


def _key(reads: Reads, needs: KeyNeeds) -> Shown | None:
    region = needs.arn.split(":")[3]
    answer = reads.find("kms", region, "DescribeKey", absent=("NotFoundException",), KeyId=needs.arn)
    return answer["KeyMetadata"] if answer else None


def _judge_key(needs: KeyNeeds, shown: Shown | None) -> Outcome:
    """Whether the key can encrypt."""
    if shown is None:
        return failed(f"there is no key {needs.arn}", "Make it, or correct its ARN")
    state, usage = shown.get("KeyState", ""), shown.get("KeyUsage") or "ENCRYPT_DECRYPT"
    if state != "Enabled":
        return failed(
            f"it is {state}", "Enable it, or cancel its deletion; what it encrypts is lost without it"
        )
    if usage != "ENCRYPT_DECRYPT" or shown.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        return failed(f"it is for {usage} ({shown.get('KeySpec')})", "Take a symmetric key that encrypts")
    return passed(f"it is {state} and symmetric")


def _key_policy(reads: Reads, needs: KeyNeeds) -> tuple[Shown, str]:
    region, owner = needs.arn.split(":")[3:5]
    policy = reads.ask("kms", region, "GetKeyPolicy", KeyId=needs.arn, PolicyName="default")
    return json.loads(policy["Policy"]), owner


def _judge_key_policy(_: KeyNeeds, seen: tuple[Shown, str]) -> Outcome:
    """Whether the key's policy leaves it to IAM who uses it: our roles and FSx's grants get it by IAM alone."""
    policy, owner = seen
    for statement in _list(policy.get("Statement", [])):
        principal = statement.get("Principal", {})
        principals = _list(principal.get("AWS", [])) if isinstance(principal, dict) else [principal]
        root = any(one == owner or str(one).endswith(f"::{owner}:root") for one in principals)
        everything = "kms:*" in _list(statement.get("Action", []))
        if statement.get("Effect") == "Allow" and root and everything:
            return passed(f"its policy leaves it to the IAM policies of {owner}")
    return warned(
        f"its policy does not leave it to the IAM policies of {owner}",
        "Allow kms:Decrypt, GenerateDataKey, DescribeKey to the jobs' roles, and kms:CreateGrant to who deploys",
    )


# File systems


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


STORAGE_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_BUCKET,
        calls=("s3:GetBucketLocation",),
        subjects=_buckets,
        gather=_location,
        judge=_judge_bucket,
        after=("UC9404",),
    ),
    Check(
        code="UC9449",
        calls=("s3:GetBucketPolicy", "s3:GetBucketPolicyStatus"),
        subjects=_buckets,
        gather=_policy,
        judge=_judge_policy,
        after=(_BUCKET,),
    ),
    Check(
        code=_KEY,
        calls=("kms:DescribeKey",),
        subjects=_keys,
        gather=_key,
        judge=_judge_key,
        after=("UC9404",),
    ),
    Check(
        code="UC9451",
        calls=("kms:GetKeyPolicy",),
        subjects=_keys,
        gather=_key_policy,
        judge=_judge_key_policy,
        after=(_KEY,),
    ),
    Check(
        code=_FILE_SYSTEM,
        calls=("fsx:DescribeFileSystems",),
        subjects=_systems,
        gather=_system,
        judge=_judge_system,
        after=("UC9404",),
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
