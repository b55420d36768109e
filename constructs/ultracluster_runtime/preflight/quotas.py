"""Checks of Service Quotas: what the rollout takes, and what is in use, against what the account has."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from ultracluster_catalog.instance_types import INSTANCE_TYPES
from ultracluster_catalog.service_quotas import SERVICE_QUOTAS, ServiceQuota, quota_request_command
from ultracluster_runtime.preflight.check import (
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    skipped,
    warned,
    worst,
)
from ultracluster_runtime.preflight.needs import ClusterNeeds, RegionNeeds, RolloutNeeds, SourceNeeds
from ultracluster_runtime.preflight.reads import Reads

__all__ = ["QUOTA_CHECKS", "Share", "is_deployed", "judge_shares"]

_CLUSTER_TAG: Final = "ultracluster:cluster"
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


def _value(reads: Reads, region: str, service: str, code: str) -> float | None:
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
    value = _value(reads, region, quota.service, quota.code)
    return Share(
        service=quota.service, code=quota.code, name=quota.name, value=value, used=used, needed=needed
    )


# Accelerated instances


def _by_code(
    sources: Iterable[SourceNeeds], code: Callable[[SourceNeeds], str | None]
) -> dict[str, list[SourceNeeds]]:
    found: dict[str, list[SourceNeeds]] = {}
    for source in sources:
        if (known := code(source)) is not None:
            found.setdefault(known, []).append(source)
    return found


def _block_shares(reads: Reads, needs: RegionNeeds) -> list[Share]:
    blocks = [one for one in needs.sources if one.market_type == "capacity-block"]
    return [
        Share(
            service="ec2",
            code=code,
            name=f"vCPUs of {those[0].instance_type} in active Capacity Blocks",
            value=_value(reads, needs.region, "ec2", code),
            used=0,
            needed=sum(one.all_vcpus for one in those),
        )
        for code, those in _by_code(blocks, lambda one: one.block_quota).items()
    ]


def _judge_blocks(needs: RegionNeeds, shares: list[Share]) -> Outcome:
    """Whether blocks of this size can be bought: those that are, have passed; the next one would not."""
    outcome = judge_shares(needs, shares)
    if outcome.evidence and outcome.status.value == "FAIL":
        return warned(
            f"{outcome.evidence}; blocks that were bought already are not touched by this", outcome.remedy
        )
    return outcome


def _instance_shares(reads: Reads, needs: RegionNeeds, *, market: str, code: Any, spot: bool) -> list[Share]:
    sources = [one for one in needs.sources if one.market_type == market and one.reservation_id is None]
    by_code = _by_code(sources, code)
    if not by_code:
        return []
    running = [
        instance
        for reservation in reads.every(
            "ec2",
            needs.region,
            "DescribeInstances",
            "Reservations",
            Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}],
        )
        for instance in reservation["Instances"]
        if _counts(instance, spot=spot) and not _is_of(instance, needs.clusters)
    ]
    bought = "Spot" if spot else "on-demand"
    return [
        Share(
            service="ec2",
            code=quota,
            name=f"vCPUs of {bought} {those[0].family} instances",
            value=_value(reads, needs.region, "ec2", quota),
            used=sum(_vcpus(one) for one in running if one["InstanceType"].startswith(those[0].family)),
            needed=sum(one.all_vcpus for one in those),
        )
        for quota, those in by_code.items()
    ]


def _counts(instance: Any, *, spot: bool) -> bool:
    """Whether an instance counts against this quota; those in Capacity Blocks count against neither."""
    lifecycle = instance.get("InstanceLifecycle")
    return bool(lifecycle == "spot" if spot else lifecycle is None)


def _vcpus(instance: Any) -> int:
    known = INSTANCE_TYPES.get(instance["InstanceType"])
    if known is not None:
        return known.vcpus
    options = instance.get("CpuOptions", {})
    return int(options.get("CoreCount", 0)) * int(options.get("ThreadsPerCore", 1))


def _is_of(instance: Any, clusters: Iterable[ClusterNeeds]) -> bool:
    names = {cluster.name for cluster in clusters}
    return any(tag["Key"] == _CLUSTER_TAG and tag["Value"] in names for tag in instance.get("Tags", []))


def _on_demand_shares(reads: Reads, needs: RegionNeeds) -> list[Share]:
    return _instance_shares(
        reads, needs, market="on-demand", code=lambda one: one.on_demand_quota, spot=False
    )


def _spot_shares(reads: Reads, needs: RegionNeeds) -> list[Share]:
    return _instance_shares(reads, needs, market="spot", code=lambda one: one.spot_quota, spot=True)


# What is beside them


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


def _check(code: str, gather: Any, *calls: str, judge: Any = judge_shares) -> AnyCheck:
    return Check(
        code=code,
        calls=(*_READ_QUOTA, *calls),
        subjects=RolloutNeeds.regions,
        gather=gather,
        judge=judge,
        after=("UC9404",),
    )


QUOTA_CHECKS: Final[tuple[AnyCheck, ...]] = (
    _check("UC9411", _block_shares, judge=_judge_blocks),
    _check("UC9412", _on_demand_shares, "ec2:DescribeInstances"),
    _check("UC9413", _spot_shares, "ec2:DescribeInstances"),
    _check(
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
    _check(
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
    _check("UC9416", _storage_shares, "fsx:DescribeFileSystems", _READ_STACKS),
    _check(
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
    _check(
        "UC9418",
        _interface_shares,
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeNetworkInterfaces",
        _READ_STACKS,
    ),
    _check(
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
