"""Checks of Service Quotas: what the rollout takes, and what is in use, against what the account has.

Those on accelerated instances are in `ultracluster_runtime.preflight.instance_quotas`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS, ServiceQuota, quota_request_command
from ultracluster_runtime.preflight.check import (
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    skipped,
    warned,
    worst,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import ClusterNeeds, RegionNeeds, RolloutNeeds

__all__ = ["QUOTA_CHECKS", "Share", "is_deployed", "judge_shares", "quota_check", "quota_value"]

_NO_STACK: Final = ("ValidationError",)
_GONE: Final = frozenset({"DELETE_COMPLETE", "REVIEW_IN_PROGRESS"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """One quota, what others use of it, and what the rollout adds.

    Attributes:
        service: The service, as Service Quotas spells it.
        code: Code of the quota.
        name: What it counts.
        value: The quota. None if Service Quotas does not know it.
        used: What is in use without this rollout.
        needed: What the rollout adds.
    """

    service: str
    code: str
    name: str
    value: float | None
    used: int
    needed: int


def judge_shares(needs: RegionNeeds, shares: Iterable[Share]) -> Outcome:
    """Whether each quota holds what is used and what is added."""
    outcomes = [_judge(needs.region, share) for share in shares]
    return worst(outcomes) if outcomes else skipped("nothing of this rollout counts against it")


def _judge(region: str, share: Share) -> Outcome:
    if share.needed == 0:
        return skipped(f"{share.name}: nothing is added, what the rollout needs is there")
    if share.value is None:
        return warned(
            f"{share.name}: Service Quotas does not know {share.code} here",
            "Look at the quotas of the service in the console",
        )
    together = share.used + share.needed
    seen = f"{share.name}: {share.used:,} used + {share.needed:,} needed = {together:,} of {share.value:,.0f}"
    if together <= share.value:
        return passed(seen)
    command = quota_request_command(service=share.service, code=share.code, value=together, region=region)
    return failed(seen, f"Ask for more (days): `{command}`")


def is_deployed(reads: Reads, region: str, stack: str) -> bool:
    """Whether a stack is there, so that what it holds is counted as used already."""
    shown = reads.find("cloudformation", region, "DescribeStacks", absent=_NO_STACK, StackName=stack)
    return shown is not None and any(one["StackStatus"] not in _GONE for one in shown["Stacks"])


def quota_value(reads: Reads, region: str, service: str, code: str) -> float | None:
    """The quota of the account; AWS's default where the account has none of its own."""
    for operation in ("GetServiceQuota", "GetAWSDefaultServiceQuota"):
        answer = reads.find(
            "service-quotas",
            region,
            operation,
            absent=("NoSuchResourceException",),
            ServiceCode=service,
            QuotaCode=code,
        )
        if answer is not None:
            return float(answer["Quota"]["Value"])
    return None


def _share(reads: Reads, region: str, quota: ServiceQuota, *, used: int, needed: int) -> Share:
    value = quota_value(reads, region, quota.service, quota.code)
    return Share(
        service=quota.service, code=quota.code, name=quota.name, value=value, used=used, needed=needed
    )


def _new(reads: Reads, needs: RegionNeeds, stack: int) -> list[ClusterNeeds]:
    """The clusters whose stack of this number is not there yet."""
    return [one for one in needs.clusters if not is_deployed(reads, one.region, one.stacks[stack])]


_NETWORK, _STORAGE, _CLUSTER = range(3)


def _counted(
    quota: ServiceQuota,
    stack: int,
    listing: tuple[str, str, str],
    needed: Callable[[ClusterNeeds], int],
    **parameters: Any,
) -> Callable[[Reads, RegionNeeds], list[Share]]:
    service, operation, key = listing

    def gather(reads: Reads, needs: RegionNeeds) -> list[Share]:
        used = len(reads.every(service, needs.region, operation, key, **parameters))
        wanted = sum(needed(cluster) for cluster in _new(reads, needs, stack))
        return [_share(reads, needs.region, quota, used=used, needed=wanted)]

    return gather


def _interface_shares(reads: Reads, needs: RegionNeeds) -> list[Share]:
    """One share for each zone: AWS enforces this quota in each zone of a Region."""
    shown = reads.ask("ec2", needs.region, "DescribeAvailabilityZones", AllAvailabilityZones=True)
    names = {zone["ZoneId"]: zone["ZoneName"] for zone in shown["AvailabilityZones"]}
    interfaces = reads.every("ec2", needs.region, "DescribeNetworkInterfaces", "NetworkInterfaces")
    new = _new(reads, needs, _CLUSTER)
    shares = []
    for zone_id in dict.fromkeys(cluster.zone_id for cluster in needs.clusters):
        used = sum(one.get("AvailabilityZone") == names.get(zone_id) for one in interfaces)
        wanted = sum(cluster.interfaces for cluster in new if cluster.zone_id == zone_id)
        share = _share(reads, needs.region, SERVICE_QUOTAS["network-interfaces"], used=used, needed=wanted)
        shares.append(replace(share, name=f"network interfaces in {zone_id}"))
    return shares


def _storage_shares(reads: Reads, needs: RegionNeeds) -> list[Share]:
    shares = []
    new = _new(reads, needs, _STORAGE)
    systems = reads.every("fsx", needs.region, "DescribeFileSystems", "FileSystems")
    for quota, kinds in (
        (SERVICE_QUOTAS["lustre-persistent-2"], {"PERSISTENT_2"}),
        (SERVICE_QUOTAS["lustre-scratch"], {"SCRATCH_1", "SCRATCH_2"}),
    ):
        wanted = sum(one.storage_gib for one in new if one.storage_quota == quota.code)
        used = sum(
            int(one.get("StorageCapacity", 0))
            for one in systems
            if one.get("LustreConfiguration", {}).get("DeploymentType") in kinds
        )
        if any(one.storage_quota == quota.code for one in needs.clusters):
            shares.append(_share(reads, needs.region, quota, used=used, needed=wanted))
    return [replace(share, name=f"GiB of {share.name}") for share in shares]


_READ_QUOTA: Final = ("service-quotas:GetServiceQuota", "service-quotas:GetAWSDefaultServiceQuota")
_READ_STACKS: Final = "cloudformation:DescribeStacks"


def quota_check(code: str, gather: Any, *calls: str, judge: Any = judge_shares) -> AnyCheck:
    """Make the check of quotas in each Region.

    Args:
        code: Its code.
        gather: Gives the shares of a Region.
        *calls: What that asks beside the quotas themselves.
        judge: Judges the shares. Default: each has to hold.
    """
    return Check(
        code=code,
        calls=(*_READ_QUOTA, *calls),
        subjects=RolloutNeeds.regions,
        gather=gather,
        judge=judge,
        after=(REGION_IS_ENABLED,),
    )


QUOTA_CHECKS: Final[tuple[AnyCheck, ...]] = (
    quota_check(
        "UC9414",
        _counted(
            SERVICE_QUOTAS["compute-environments"],
            _CLUSTER,
            ("batch", "DescribeComputeEnvironments", "computeEnvironments"),
            lambda cluster: cluster.compute_environments,
        ),
        "batch:DescribeComputeEnvironments",
        _READ_STACKS,
    ),
    quota_check(
        "UC9415",
        _counted(
            SERVICE_QUOTAS["job-queues"],
            _CLUSTER,
            ("batch", "DescribeJobQueues", "jobQueues"),
            lambda cluster: cluster.queues,
        ),
        "batch:DescribeJobQueues",
        _READ_STACKS,
    ),
    quota_check("UC9416", _storage_shares, "fsx:DescribeFileSystems", _READ_STACKS),
    quota_check(
        "UC9417",
        _counted(
            SERVICE_QUOTAS["vpcs"],
            _NETWORK,
            ("ec2", "DescribeVpcs", "Vpcs"),
            lambda cluster: int(cluster.new_vpc),
        ),
        "ec2:DescribeVpcs",
        _READ_STACKS,
    ),
    quota_check(
        "UC9418",
        _interface_shares,
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeNetworkInterfaces",
        _READ_STACKS,
    ),
    quota_check(
        "UC9419",
        _counted(
            SERVICE_QUOTAS["gateway-endpoints"],
            _NETWORK,
            ("ec2", "DescribeVpcEndpoints", "VpcEndpoints"),
            lambda cluster: int(cluster.new_vpc),
            Filters=[{"Name": "vpc-endpoint-type", "Values": ["Gateway"]}],
        ),
        "ec2:DescribeVpcEndpoints",
        _READ_STACKS,
    ),
)
