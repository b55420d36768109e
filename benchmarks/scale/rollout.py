"""The rollout of a layout, simulated: waves of deployments, then the start of all nodes."""

import heapq
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from scale.layout import Layout, RegionLayout
from ultracluster_catalog.limits.service_limits import RUN_INSTANCES_REFILL_PER_SECOND, SERVICE_LIMITS
from ultracluster_catalog.prices.prices import capacity_block_price

__all__ = ["RolloutRun", "WaveRun", "simulate_rollout"]

_SECONDS = 60
_MINUTES = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class WaveRun:
    """How one wave went.

    Attributes:
        name: What is in it.
        clusters: Clusters that were deployed.
        failed: Those of them whose first deployment failed.
        minutes: Minutes until the last one was there, and quiet.
    """

    name: str
    clusters: int
    failed: int
    minutes: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutRun:
    """How a rollout went.

    Attributes:
        seed: What it was drawn with.
        waves: The waves in order. They should end before the blocks start.
        first_cluster_minutes: Minutes from the start of the blocks until the first cluster has all its nodes.
        last_cluster_minutes: The same for the last one.
        idle_node_hours: Node-hours that are paid until each cluster has all its nodes.
        idle_usd: What they cost at list prices. None where a Region's price is not known.
    """

    seed: int
    waves: tuple[WaveRun, ...]
    first_cluster_minutes: float
    last_cluster_minutes: float
    idle_node_hours: float
    idle_usd: Decimal | None

    @property
    def deploy_hours(self) -> float:
        """Hours from the first deployment to the end of the last wave: how long before the start to begin."""
        return sum(wave.minutes for wave in self.waves) / _MINUTES


def simulate_rollout(layout: Layout, *, seed: int = 0) -> RolloutRun:
    """Deploy one cluster, then one in each Region, then the rest; then start all blocks at the same time.

    Each deployment takes half to all of `deploy_minutes`. One that fails is repaired and deployed again. The nodes of
    a Region's account start as fast as EC2 lets an account launch instances.

    Args:
        layout: The layout.
        seed: The same seed gives the same run. Default: 0.
    """
    random = Random(seed)  # noqa: S311 - a simulation
    rest = [each.clusters for each in layout.regions]
    rest[0] -= 1
    waves = [_wave(layout, "one cluster", [[1]], random)]
    firsts = [[1] for left in rest[1:] if left]
    if firsts:
        waves.append(_wave(layout, "one cluster in each further Region", firsts, random))
        rest[1:] = [left - 1 for left in rest[1:]]
    if any(rest):
        shares = [_shares(left, each.accounts) for left, each in zip(rest, layout.regions, strict=True)]
        waves.append(_wave(layout, "all others", shares, random))
    ready = [(each, minutes) for each in layout.regions for minutes in _ready_minutes(layout, each)]
    return RolloutRun(
        seed=seed,
        waves=tuple(waves),
        first_cluster_minutes=min(minutes for _, minutes in ready),
        last_cluster_minutes=max(minutes for _, minutes in ready),
        idle_node_hours=sum(minutes for _, minutes in ready) * layout.nodes_per_block / _MINUTES,
        idle_usd=_idle_usd(layout, ready),
    )


def _shares(clusters: int, accounts: int) -> list[int]:
    share, more = divmod(clusters, accounts)
    return [share + (index < more) for index in range(accounts)]


def _wave(layout: Layout, name: str, regions: list[list[int]], random: Random) -> WaveRun:
    """Deploy so many clusters in each account of each Region, a few of an account at a time."""
    given = layout.assumptions
    failed = 0
    longest = 0.0
    for share in (share for accounts in regions for share in accounts):
        free_at = [0.0] * min(given.parallel_deployments, max(share, 1))
        for _ in range(share):
            minutes = _deployment(layout, random)
            if random.random() * 100 < given.deploy_failure_percent:
                failed += 1
                minutes += given.repair_minutes + _deployment(layout, random)
            end = heapq.heappop(free_at) + minutes
            heapq.heappush(free_at, end)
            longest = max(longest, end)
    clusters = sum(share for accounts in regions for share in accounts)
    return WaveRun(name=name, clusters=clusters, failed=failed, minutes=longest + given.bake_minutes)


def _deployment(layout: Layout, random: Random) -> float:
    return layout.assumptions.deploy_minutes * random.uniform(0.5, 1)


def _ready_minutes(layout: Layout, region: RegionLayout) -> list[float]:
    """Minutes until each cluster of a Region has all its nodes, account by account, one cluster after the other."""
    at_once = SERVICE_LIMITS["run-instances"].value
    return [
        max(0, (index + 1) * layout.nodes_per_block - at_once) / RUN_INSTANCES_REFILL_PER_SECOND / _SECONDS
        + layout.assumptions.boot_minutes
        for share in _shares(region.clusters, region.accounts)
        for index in range(share)
    ]


def _idle_usd(layout: Layout, ready: list[tuple[RegionLayout, float]]) -> Decimal | None:
    total = Decimal(0)
    for region, minutes in ready:
        price = capacity_block_price(layout.instance_type.name, region.region).amount
        if price is None:
            return None
        total += price * layout.nodes_per_block * Decimal(minutes) / _MINUTES
    return total.quantize(Decimal(1))
