"""Environment files: a base rollout for all environments, and a small file of overrides for each.

An environment file names its `base`, a rollout in the same directory. Its `defaults` override those of the base, and
`clusters` overrides clusters by name: mappings merge key by key, lists and scalars replace. A cluster's own value takes
precedence over any default. A base cannot have a base, and nothing else is merged.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ultracluster_spec.credentials import shown
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import FindingsError, reject
from ultracluster_spec.record import RuleRecord
from ultracluster_stacks.config.reading.defaults import cluster_locs, map_clusters
from ultracluster_stacks.config.reading.problem import Loc, Problem, unknown_key, value_at, wrong_type
from ultracluster_stacks.config.reading.yaml_source import YamlSource, read_yaml

BASE: Final = "base"
"""Key that marks an environment file."""

ENVIRONMENT_KEYS: Final = ("version", BASE, "defaults", "clusters")
"""All top-level keys of an environment file."""

_NO_BASE: Final = "Specify the rollout file that contains the clusters"


def read_rollout(path: str | os.PathLike[str]) -> YamlSource:
    """Read a rollout file, or an environment file together with its base, before `defaults` are merged into clusters.

    Raises:
        FindingsError: A file cannot be read (see `read_yaml`), or an environment file is invalid (UC1020, UC1022,
            UC2224 to UC2226).
    """
    own = read_yaml(path)
    if BASE not in own.values:
        return own
    reject(map(own.locate, [*own.problems, *_wrong_values(own)]))
    base = read_yaml(_base_path(own, Path(path)))
    reject([*map(base.locate, base.problems), *map(own.locate, _wrong_base(own, base))])
    return _override(own, base)


def refuse_environment(path: str | os.PathLike[str]) -> None:
    """Raise UC2227 for an environment file, for commands that edit the clusters of a rollout file."""
    source = read_yaml(path)
    if BASE in source.values:
        problem = f"the clusters of this environment file are in {shown(source.values[BASE])}"
        raise FindingsError([source.locate(Problem.of((BASE,), "UC2227", problem, remedy=_NO_BASE))])


def _wrong_values(own: YamlSource) -> Iterator[Problem]:
    for key in own.values:
        if key not in ENVIRONMENT_KEYS:
            yield unknown_key((key,), ENVIRONMENT_KEYS, of="an environment file")
    clusters = own.values.get("clusters", {})
    mappings: dict[Loc, Any] = {("defaults",): own.values.get("defaults", {}), ("clusters",): clusters}
    if isinstance(clusters, Mapping):
        mappings |= {("clusters", name): overrides for name, overrides in clusters.items()}
    for loc, value in mappings.items():
        if not isinstance(value, Mapping):
            yield wrong_type(loc, value, allowed="a mapping")


def _base_path(own: YamlSource, path: Path) -> Path:
    """Return the base, which is in the folder of the environment file or below it."""
    given, folder = own.values[BASE], path.parent
    if isinstance(given, str) and given and not Path(given).is_absolute():
        base = folder / given
        if base.resolve().is_relative_to(folder.resolve()):
            return base
    allowed = "the path of a rollout in the folder of this file, such as rollout.yaml"
    raise FindingsError([own.locate(Problem.of((BASE,), "UC2224", f"got {shown(given)}", allowed))])


def _wrong_base(own: YamlSource, base: YamlSource) -> Iterator[Problem]:
    if BASE in base.values:
        problem = f"{base.name} is itself an environment file"
        yield Problem.of((BASE,), "UC2225", problem, remedy=_NO_BASE)
        return
    names = [name for _, name in _named_clusters(base)]
    for name in own.values.get("clusters", {}):
        if name not in names:
            yield Problem.of(
                ("clusters", name),
                "UC2226",
                f"{base.name} has no cluster {shown(name)}",
                allowed=", ".join(dict.fromkeys(names)),
                remedy=suggestion(name, names),
            )


def _named_clusters(base: YamlSource) -> Iterator[tuple[Loc, str]]:
    for loc in cluster_locs(base.values):
        name = value_at(base.values, loc).get("name")
        if isinstance(name, str):
            yield loc, name


def _override(own: YamlSource, base: YamlSource) -> YamlSource:
    """Return the base with the values of an environment file, and where each of them is written."""
    # Each file requires a version, so the base's cannot replace a missing one.
    values = {key: value for key, value in base.values.items() if key != "version"}
    places = {loc: place for loc, place in base.places.items() if loc != ("version",)}
    places[()] = own.places[()]  # missing top-level keys are reported here

    def override(own_loc: Loc, own_value: Any, loc: Loc, value: Any) -> Any:
        """Record the places of an overriding value instead of those of the overridden one, and merge the two."""
        if isinstance(own_value, Mapping) and isinstance(value, Mapping):
            parts = {
                key: override((*own_loc, key), part, (*loc, key), value.get(key))
                for key, part in own_value.items()
            }
            return {**value, **parts}
        for overridden in [other for other in places if other[: len(loc)] == loc]:
            del places[overridden]
        for other, place in own.places.items():
            if other[: len(own_loc)] == own_loc:
                places[*loc, *other[len(own_loc) :]] = place
        return own_value

    for key in ("version", "defaults"):
        if key in own.values:
            values[key] = override((key,), own.values[key], (key,), base.values.get(key))
    overrides = own.values.get("clusters", {})
    changed = {
        loc: override(("clusters", name), overrides[name], loc, value_at(base.values, loc))
        for loc, name in _named_clusters(base)
        if name in overrides
    }
    values = map_clusters(values, changed.get)
    return replace(own, values=values, places=places, problems=())


RECORDS: Final = (
    RuleRecord(
        "UC2224",
        "An environment file names a rollout in its own folder.",
        remedy="Put the environment file into the folder of its rollout, and name the rollout without a path.",
        source="Our decision: a file that is shared or downloaded must not read others of the machine.",
    ),
    RuleRecord(
        "UC2225",
        "The base of an environment file is not an environment file.",
        remedy="In each environment file, name the rollout file that contains the clusters.",
        source="Our decision: one step from a value to its line; chains hide where a value comes from.",
    ),
    RuleRecord(
        "UC2226",
        "An environment file changes only clusters of its base.",
        remedy="Use the name that the finding suggests; add a new cluster to a wave of the base.",
        source="Our decision: a misspelt name would silently leave the cluster as it is in the base.",
    ),
    RuleRecord(
        "UC2227",
        "A command that updates a rollout is given the file that contains the clusters.",
        remedy="Specify the rollout file with the clusters, which is the file that the command updates.",
        source="Our decision: a command never writes into a file that was not named to it.",
    ),
)
