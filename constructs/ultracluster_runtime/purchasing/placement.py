"""Place the clusters of a wave in Regions according to the available offerings."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ultracluster_runtime.purchasing.offerings import Offering, rank_offerings


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacementRequest:
    """Request to place a cluster."""

    cluster: str
    instance_type: str
    nodes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacementRules:
    """Rules of placement."""

    regions: tuple[str, ...]  # allowed Regions, such as those where the data may reside
    max_fee: Decimal  # maximum fee of one block
    currency: str = "USD"
    max_per_region: int | None = None  # maximum number of clusters to place in a Region; None without a limit
    # Ranking: a key of ultracluster_runtime.purchasing.offerings.RANKINGS. Default: lowest total fee.
    prefer: str = "total"


def place(
    requests: Sequence[PlacementRequest],
    offerings: Iterable[Offering],
    *,
    rules: PlacementRules,
    taken: Collection[tuple[str, str]] = (),
) -> list[Offering | None]:
    """Assign to each cluster the best available offering that meets the rules, or None if none is left.

    Clusters choose in order, so the first cluster of a wave gets the best offering. Each offering is assigned once.
    Offerings in one zone may represent the same instances, so search again after each purchase.
    """
    available = [
        offering
        for offering in rank_offerings(list(offerings), by=rules.prefer)
        if _keeps_rules(offering, rules)
    ]
    names = set(taken)
    clusters_per_region: Counter[str] = Counter()
    chosen: list[Offering | None] = []
    for request in requests:
        best = next(
            (
                offering
                for offering in available
                if _fits_request(request, offering, names, clusters_per_region, rules)
            ),
            None,
        )
        chosen.append(best)
        if best is not None:
            available.remove(best)
            names.add((request.cluster, best.region))
            clusters_per_region[best.region] += 1
    return chosen


def _keeps_rules(offering: Offering, rules: PlacementRules) -> bool:
    # An offering with several segments or zones becomes several reservations, which cannot hold one cluster.
    return (
        offering.region in rules.regions
        and offering.fee <= rules.max_fee
        and offering.currency == rules.currency
        and len(offering.zone_ids) == 1
        and not offering.segments
    )


def _fits_request(
    request: PlacementRequest,
    offering: Offering,
    names: Collection[tuple[str, str]],
    filled: Mapping[str, int],
    rules: PlacementRules,
) -> bool:
    return (
        offering.instance_type == request.instance_type
        and offering.instance_count == request.nodes
        and (request.cluster, offering.region) not in names
        and (rules.max_per_region is None or filled[offering.region] < rules.max_per_region)
    )
