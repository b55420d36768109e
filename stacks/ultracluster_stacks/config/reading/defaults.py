"""Merge `defaults` of a rollout file into each cluster, and trace merged values back for messages.

Mappings merge key by key; a list or scalar of a cluster replaces the default.
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_stacks.config.reading.problem import Loc


def merge(defaults: Any, own: Any) -> Any:
    """Return the value of a cluster merged with the default."""
    if not isinstance(defaults, Mapping) or not isinstance(own, Mapping):
        return own
    return {
        key: merge(defaults.get(key), own[key]) if key in own else defaults[key]
        for key in {**defaults, **own}
    }


def cluster_locs(values: Mapping[str, Any]) -> list[Loc]:
    """Return the locations of all clusters of a file that are mappings."""
    waves = values.get("waves")
    locs: list[Loc] = []
    for w, wave in enumerate(waves if isinstance(waves, tuple) else ()):
        clusters = wave.get("clusters") if isinstance(wave, Mapping) else None
        for c, cluster in enumerate(clusters if isinstance(clusters, tuple) else ()):
            if isinstance(cluster, Mapping):
                locs.append(("waves", w, "clusters", c))
    return locs


def with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a file with `defaults` merged into each cluster and removed."""
    defaults = values.get("defaults")
    merged = {key: value for key, value in values.items() if key != "defaults"}
    if not isinstance(defaults, Mapping) or not isinstance(values.get("waves"), tuple):
        return merged
    merged["waves"] = tuple(_merge_wave(defaults, wave) for wave in values["waves"])
    return merged


def _merge_wave(defaults: Mapping[str, Any], wave: Any) -> Any:
    if not isinstance(wave, Mapping) or not isinstance(wave.get("clusters"), tuple):
        return wave
    clusters = tuple(
        merge(defaults, cluster) if isinstance(cluster, Mapping) else cluster for cluster in wave["clusters"]
    )
    return {**wave, "clusters": clusters}


def origin(values: Mapping[str, Any], loc: Loc) -> Loc:
    """Return where a value of the merged rollout comes from: its cluster or `defaults`."""
    depth = 4  # path of a cluster: waves, index, clusters, index
    own: Any = values
    for part in loc[:depth]:
        own = _child(own, part)
    inherited: Any = values.get("defaults")
    for index in range(depth, len(loc)):
        if not isinstance(inherited, Mapping):
            return loc
        if not isinstance(own, Mapping):
            return loc
        if loc[index] not in own:
            return ("defaults", *loc[depth:]) if loc[index] in inherited else loc
        own, inherited = own[loc[index]], inherited.get(loc[index])
    return loc


def _child(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(str(part))
    if isinstance(value, tuple) and isinstance(part, int) and part < len(value):
        return value[part]
    return None
