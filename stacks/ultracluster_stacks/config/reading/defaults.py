"""Merge `defaults` of a rollout file into each cluster, and trace merged values back for messages.

Mappings merge key by key; a list or scalar of a cluster replaces the default.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ultracluster_stacks.config.reading.problem import Loc, value_at

CLUSTER_DEPTH: Final = 4
"""Length of the location of a cluster: waves, index, clusters, index."""


def merge(defaults: Any, own: Any) -> Any:
    """Return the value of a cluster merged with the default."""
    if not isinstance(defaults, Mapping) or not isinstance(own, Mapping):
        return own
    return {
        key: merge(defaults.get(key), own[key]) if key in own else defaults[key]
        for key in {**defaults, **own}
    }


def map_clusters(
    values: Mapping[str, Any], change: Callable[[Loc, Mapping[str, Any]], Any]
) -> dict[str, Any]:
    """Return the values of a file with each cluster that is a mapping replaced by what a function returns for it."""

    def changed(loc: Loc, cluster: Any) -> Any:
        return change(loc, cluster) if isinstance(cluster, Mapping) else cluster

    waves = []
    for w, wave in enumerate(_items(values, "waves")):
        clusters = _items(wave, "clusters")
        new = tuple(changed(("waves", w, "clusters", c), cluster) for c, cluster in enumerate(clusters))
        waves.append({**wave, "clusters": new} if clusters else wave)
    return {**values, "waves": tuple(waves)} if waves else dict(values)


def _items(values: Any, key: str) -> tuple[Any, ...]:
    items = values.get(key) if isinstance(values, Mapping) else None
    return items if isinstance(items, tuple) else ()


def cluster_locs(values: Mapping[str, Any]) -> list[Loc]:
    """Return the locations of all clusters of a file that are mappings."""
    locs: list[Loc] = []
    map_clusters(values, lambda loc, _: locs.append(loc))
    return locs


def with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file with `defaults` merged into each cluster and removed."""
    defaults = values.get("defaults")
    others = {key: value for key, value in values.items() if key != "defaults"}
    return map_clusters(others, lambda _, cluster: merge(defaults, cluster))


def origin(values: Mapping[str, Any], loc: Loc) -> Loc:
    """Return where a value of the merged rollout comes from: its cluster or `defaults`."""
    try:
        own = value_at(values, loc[:CLUSTER_DEPTH])
    except (LookupError, TypeError):  # not a cluster
        return loc
    inherited = values.get("defaults")
    for index in range(CLUSTER_DEPTH, len(loc)):
        if not isinstance(inherited, Mapping) or not isinstance(own, Mapping):
            return loc
        if loc[index] not in own:
            return ("defaults", *loc[CLUSTER_DEPTH:]) if loc[index] in inherited else loc
        own, inherited = own[loc[index]], inherited.get(loc[index])
    return loc
