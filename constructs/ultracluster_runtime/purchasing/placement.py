"""Which Region each cluster of a wave goes to, chosen from what is offered."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ultracluster_runtime.purchasing.offerings import Offering, rank_offerings

__all__ = ["PlacementRequest", "PlacementRules", "place"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacementRequest:
    """A cluster that waits for a place.

    Attributes:
        cluster: Its name.
        instance_type: Name of its instance type.
        nodes: Instances that it needs in one block.
    """

    cluster: str
    instance_type: str
    nodes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacementRules:
    """What a place must keep.

    Attributes:
        regions: Regions where clusters may be, such as those where the data may be.
        max_fee: Highest fee of one block.
        currency: The only currency accepted. Default: USD.
        most_per_region: Most clusters to place in one Region. None for no limit.
        prefer: What makes the best offer: a name of `ultracluster_runtime.purchasing.offerings.RANKINGS`. Default: lowest total.
    """

    regions: tuple[str, ...]
    max_fee: Decimal
    currency: str = "USD"
    max_per_region: int | None = None
    prefer: str = "total"


def place(
    requests: Sequence[PlacementRequest],
    offerings: Iterable[Offering],
    *,
    rules: PlacementRules,
    taken: Collection[tuple[str, str]] = (),
) -> list[Offering | None]:
    """Give each cluster the best offering that is left and keeps the rules.

    Clusters choose in their order, so the first of a wave gets the best. An offering is given once. Offerings of one
    zone may stand for the same machines: another search after each purchase tells.

    Args:
        needs: The clusters.
        offerings: What AWS offers, of any type, size and Region.
        rules: What to keep.
        taken: Name and Region of clusters that are there already; a name is used once in a Region.

    Returns:
        The offering of each cluster; None where nothing is left.
    """
    available = [offering for offering in rank_offerings(list(offerings), by=rules.prefer) if _allowed(offering, rules)]
    names = set(taken)
    clusters_per_region: Counter[str] = Counter()
    chosen: list[Offering | None] = []
    for request in requests:
        best = next((offering for offering in available if _fits(request, offering, names, clusters_per_region, rules)), None)
        chosen.append(best)
        if best is not None:
            available.remove(best)
            names.add((request.cluster, best.region))
            clusters_per_region[best.region] += 1
    return chosen


def _allowed(offering: Offering, rules: PlacementRules) -> bool:
    # A block in several parts or zones is several reservations, which is no place for one cluster.
    return (
        offering.region in rules.regions
        and offering.fee <= rules.max_fee
        and offering.currency == rules.currency
        and len(offering.zone_ids) == 1
        and not offering.segments
    )


def _fits(
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
