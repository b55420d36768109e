"""Checks of the quotas on accelerated instances: in Capacity Blocks, on demand and Spot."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_runtime.preflight.check import AnyCheck, Outcome, Status, warned
from ultracluster_runtime.preflight.quotas import Share, judge_shares, quota_check, quota_value
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import ClusterRequirements, RegionRequirements, SourceRequirements

__all__ = ["INSTANCE_QUOTA_CHECKS"]


def _by_code(
    sources: Iterable[SourceRequirements], code: Callable[[SourceRequirements], str | None]
) -> dict[str, list[SourceRequirements]]:
    found: dict[str, list[SourceRequirements]] = {}
    for source in sources:
        if (known := code(source)) is not None:
            found.setdefault(known, []).append(source)
    return found


def _block_shares(reads: Reads, needs: RegionRequirements) -> list[Share]:
    blocks = [one for one in needs.sources if one.market_type == "capacity-block"]
    return [
        Share(
            service="ec2",
            code=code,
            name=f"vCPUs of {those[0].instance_type} in active Capacity Blocks",
            value=quota_value(reads, needs.region, "ec2", code),
            used=0,
            needed=sum(one.all_vcpus for one in those),
        )
        for code, those in _by_code(blocks, lambda one: one.block_quota).items()
    ]


def _judge_blocks(needs: RegionRequirements, shares: list[Share]) -> Outcome:
    """Whether blocks of this size can be bought: those that are, have passed; the next one would not."""
    outcome = judge_shares(needs, shares)
    if outcome.status is Status.FAIL:
        return warned(
            f"{outcome.evidence}; blocks that were bought already are not touched by this", outcome.remedy
        )
    return outcome


def _instance_shares(reads: Reads, needs: RegionRequirements, *, market: str, code: Any, spot: bool) -> list[Share]:
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
            value=quota_value(reads, needs.region, "ec2", quota),
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


def _is_of(instance: Any, clusters: Iterable[ClusterRequirements]) -> bool:
    names = {cluster.name for cluster in clusters}
    return any(tag["Key"] == CLUSTER_TAG and tag["Value"] in names for tag in instance.get("Tags", []))


def _on_demand_shares(reads: Reads, needs: RegionRequirements) -> list[Share]:
    return _instance_shares(
        reads, needs, market="on-demand", code=lambda one: one.on_demand_quota, spot=False
    )


def _spot_shares(reads: Reads, needs: RegionRequirements) -> list[Share]:
    return _instance_shares(reads, needs, market="spot", code=lambda one: one.spot_quota, spot=True)


INSTANCE_QUOTA_CHECKS: Final[tuple[AnyCheck, ...]] = (
    quota_check("UC9411", _block_shares, judge=_judge_blocks),
    quota_check("UC9412", _on_demand_shares, "ec2:DescribeInstances"),
    quota_check("UC9413", _spot_shares, "ec2:DescribeInstances"),
)
