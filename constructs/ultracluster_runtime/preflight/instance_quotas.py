"""Checks of the quotas on accelerated instances: Capacity Blocks, On-Demand and Spot."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_runtime.preflight.check import Outcome, Status, warned
from ultracluster_runtime.preflight.quotas import Share, evaluate_shares, quota_check, quota_value
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import (
    ClusterRequirements,
    RegionRequirements,
    SourceRequirements,
)


def _by_code(
    sources: Iterable[SourceRequirements], code: Callable[[SourceRequirements], str | None]
) -> dict[str, list[SourceRequirements]]:
    grouped: dict[str, list[SourceRequirements]] = {}
    for source in sources:
        if (quota := code(source)) is not None:
            grouped.setdefault(quota, []).append(source)
    return grouped


def _block_shares(reader: AwsReader, requirements: RegionRequirements) -> list[Share]:
    blocks = [source for source in requirements.sources if source.market_type == "capacity-block"]
    return [
        Share(
            service="ec2",
            code=code,
            name=f"vCPUs of {members[0].instance_type} in active Capacity Blocks",
            value=quota_value(reader, requirements.region, "ec2", code),
            used=0,
            needed=sum(source.all_vcpus for source in members),
        )
        for code, members in _by_code(blocks, lambda source: source.block_quota).items()
    ]


def _evaluate_blocks(requirements: RegionRequirements, shares: list[Share]) -> Outcome:
    """Check that such blocks can be bought. Blocks that are owned are not affected; the next purchase would be."""
    outcome = evaluate_shares(requirements, shares)
    if outcome.status is Status.FAIL:
        return warned(f"{outcome.evidence}; blocks that you own are not affected", outcome.remedy)
    return outcome


def _instance_shares(reader: AwsReader, requirements: RegionRequirements, *, market: str) -> list[Share]:
    spot = market == "spot"
    sources = [
        source
        for source in requirements.sources
        if source.market_type == market and source.reservation_id is None
    ]
    by_code = _by_code(sources, lambda source: source.spot_quota if spot else source.on_demand_quota)
    if not by_code:
        return []
    running = [
        instance
        for reservation in reader.list_all(
            "ec2",
            requirements.region,
            "DescribeInstances",
            "Reservations",
            Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}],
        )
        for instance in reservation["Instances"]
        if _counts(instance, spot=spot) and not _is_of(instance, requirements.clusters)
    ]
    bought = "Spot" if spot else "on-demand"
    return [
        Share(
            service="ec2",
            code=quota,
            name=f"vCPUs of {bought} {members[0].family} instances",
            value=quota_value(reader, requirements.region, "ec2", quota),
            used=sum(
                _vcpus(instance)
                for instance in running
                if instance["InstanceType"].startswith(members[0].family)
            ),
            needed=sum(source.all_vcpus for source in members),
        )
        for quota, members in by_code.items()
    ]


def _counts(instance: Any, *, spot: bool) -> bool:
    """Return whether an instance counts against this quota; those in Capacity Blocks count against neither."""
    lifecycle = instance.get("InstanceLifecycle")
    return bool(lifecycle == "spot" if spot else lifecycle is None)


def _vcpus(instance: Any) -> int:
    machine = INSTANCE_TYPES.get(instance["InstanceType"])
    if machine is not None:
        return machine.vcpus
    options = instance.get("CpuOptions", {})
    return int(options.get("CoreCount", 0)) * int(options.get("ThreadsPerCore", 1))


def _is_of(instance: Any, clusters: Iterable[ClusterRequirements]) -> bool:
    names = {cluster.name for cluster in clusters}
    return any(tag["Key"] == CLUSTER_TAG and tag["Value"] in names for tag in instance.get("Tags", []))


_check_blocks = quota_check("UC9411", _block_shares, evaluate=_evaluate_blocks)
_check_on_demand = quota_check(
    "UC9412", partial(_instance_shares, market="on-demand"), "ec2:DescribeInstances"
)
_check_spot = quota_check("UC9413", partial(_instance_shares, market="spot"), "ec2:DescribeInstances")
