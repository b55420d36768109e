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

from ultracluster_rules.did_you_mean import suggestion
from ultracluster_rules.findings import Finding, FindingsError, reject
from ultracluster_stacks.config.reading.defaults import cluster_locs, map_clusters, merge
from ultracluster_stacks.config.reading.problem import Loc, loc_text, shown, unknown_key, value_at, wrong_type
from ultracluster_stacks.config.reading.yaml_source import YamlSource, read_yaml

BASE: Final = "base"
"""Key that marks an environment file."""

ENVIRONMENT_KEYS: Final = ("version", BASE, "defaults", "clusters")
"""All top-level keys of an environment file."""


def read_rollout(path: str | os.PathLike[str]) -> YamlSource:
    """Read a rollout file, or an environment file together with its base, before `defaults` are merged into clusters.

    Raises:
        FindingsError: A file cannot be read (see `read_yaml`), or an environment file is invalid (UC1020, UC1022,
            UC2224 to UC2226).
    """
    source = read_yaml(path)
    if BASE not in source.values:
        return source
    reject(_wrong_values(source))
    base = read_yaml(_base_path(source, Path(path)))
    reject(_wrong_base(source, base))
    return _override(source, base)


def refuse_environment(path: str | os.PathLike[str]) -> None:
    """Raise UC2227 for an environment file, for commands that edit the clusters of a rollout file."""
    source = read_yaml(path)
    if BASE in source.values:
        problem = f"the clusters of this environment file are in {shown(source.values[BASE])}"
        remedy = "Specify the rollout file that contains the clusters"
        raise FindingsError([_finding(source, (BASE,), "UC2227", problem, remedy=remedy)])


def _finding(source: YamlSource, loc: Loc, code: str, problem: str, **more: str) -> Finding:
    return Finding(code=code, problem=problem, path=loc_text(loc), location=source.location(loc), **more)


def _unread(source: YamlSource) -> list[Finding]:
    """Return the findings of the YAML reader."""
    return [source.locate(problem) for problem in source.problems]


def _wrong_values(own: YamlSource) -> list[Finding]:
    findings = _unread(own)
    findings += [
        own.locate(unknown_key((key,), ENVIRONMENT_KEYS, of="an environment file"))
        for key in own.values
        if key not in ENVIRONMENT_KEYS
    ]
    clusters = own.values.get("clusters", {})
    parts: list[tuple[Loc, Any]] = [
        (("defaults",), own.values.get("defaults", {})),
        (("clusters",), clusters),
    ]
    if isinstance(clusters, Mapping):
        parts += [(("clusters", name), overrides) for name, overrides in clusters.items()]
    findings += [
        own.locate(wrong_type(loc, value, allowed="a mapping"))
        for loc, value in parts
        if not isinstance(value, Mapping)
    ]
    return findings


def _base_path(own: YamlSource, path: Path) -> Path:
    """The base, which stays in the folder of the environment file or below it."""
    given = own.values[BASE]
    folder = path.parent
    if isinstance(given, str) and given:
        base = folder / given
        inside = base.resolve().is_relative_to(folder.resolve())
        if inside and not Path(given).is_absolute():
            return base
    problem = f"got {shown(given)}"
    allowed = "the path of a rollout in the folder of this file, such as rollout.yaml"
    raise FindingsError([_finding(own, (BASE,), "UC2224", problem, allowed=allowed)])


def _wrong_base(own: YamlSource, base: YamlSource) -> list[Finding]:
    findings = _unread(base)
    if BASE in base.values:
        problem = f"{base.name} is itself an environment file"
        findings.append(
            _finding(
                own, (BASE,), "UC2225", problem, remedy="Specify the rollout file that contains the clusters"
            )
        )
    names = [name for _, name in _named_clusters(base)]
    findings += [
        _finding(
            own,
            ("clusters", name),
            "UC2226",
            f"{base.name} has no cluster {shown(name)}",
            allowed=", ".join(dict.fromkeys(names)),
            remedy=suggestion(name, names),
        )
        for name in own.values.get("clusters", {})
        if name not in names and BASE not in base.values
    ]
    return findings


def _named_clusters(base: YamlSource) -> Iterator[tuple[Loc, str]]:
    for loc in cluster_locs(base.values):
        name = value_at(base.values, loc).get("name")
        if isinstance(name, str):
            yield loc, name


class _Origins:
    """File and line of each value while an environment file overrides its base."""

    def __init__(self, own: YamlSource, base: YamlSource) -> None:
        self.own = own
        self.lines = {place: line for place, line in base.lines.items() if place != ("version",)}
        self.names = dict.fromkeys(self.lines, base.name)
        self._take((), (), only=True)  # missing top-level keys are reported here

    def lay(self, value: Any, loc: Loc, under: Any, target: Loc) -> None:
        """Record the origins of overriding values and drop those of overridden ones."""
        if isinstance(value, Mapping) and isinstance(under, Mapping):
            for key, part in value.items():
                self.lay(part, (*loc, key), under.get(key), (*target, key))
            return
        for place in [loc for loc in self.lines if loc[: len(target)] == target]:
            del self.lines[place], self.names[place]
        self._take(loc, target)

    def _take(self, loc: Loc, target: Loc, *, only: bool = False) -> None:
        for place, line in self.own.lines.items():
            if place == loc or (not only and place[: len(loc)] == loc):
                target_loc = (*target, *place[len(loc) :])
                self.lines[target_loc], self.names[target_loc] = line, self.own.name


def _override(own: YamlSource, base: YamlSource) -> YamlSource:
    places = _Origins(own, base)
    # Each file requires a version, so the base's cannot replace a missing one.
    values = {key: value for key, value in base.values.items() if key != "version"}
    for key in ("version", "defaults"):
        if key in own.values:
            places.lay(own.values[key], (key,), base.values.get(key), (key,))
            values[key] = merge(base.values.get(key), own.values[key])
    overrides = own.values.get("clusters", {})
    changed: dict[Loc, Any] = {}
    for loc, name in _named_clusters(base):
        if name in overrides:
            under = value_at(base.values, loc)
            places.lay(overrides[name], ("clusters", name), under, loc)
            changed[loc] = merge(under, overrides[name])
    values = map_clusters(values, changed.get)
    return replace(own, values=values, lines=places.lines, names=places.names, problems=())
