"""Environment files: one rollout for all environments, and a small file with what differs in one of them.

An environment file names its `base`, a rollout beside it. Its `defaults` are laid over those of the base, and what
`clusters` says by the name of a cluster is laid over that cluster: mappings merge key by key, a list or a single value
replaces. A cluster's own value wins over any default. There is one level of this, and nothing else is merged.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ultracluster_rules.did_you_mean import suggestion
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_stacks.config.reading.defaults import cluster_locs, merge
from ultracluster_stacks.config.reading.problem import Loc, loc_text, shown, unknown_key, wrong_type
from ultracluster_stacks.config.reading.yaml_source import YamlSource, read_yaml

__all__ = ["BASE", "ENVIRONMENT_KEYS", "read_rollout", "refuse_environment"]

BASE: Final = "base"
"""The key that makes a file an environment file."""

ENVIRONMENT_KEYS: Final = ("version", BASE, "defaults", "clusters")
"""All top-level keys of an environment file."""


def read_rollout(path: str | os.PathLike[str]) -> YamlSource:
    """Read a rollout file, or an environment file together with its base.

    Args:
        path: The file.

    Returns:
        The values of the rollout, before its defaults are merged into its clusters; each has the line of its own file.

    Raises:
        FindingsError: What `read_yaml` raises, and UC1020, UC1022 and UC2224 to UC2226 for what an environment file
            cannot be.
    """
    own = read_yaml(path)
    if BASE not in own.values:
        return own
    _raise(_wrong_values(own))
    base = read_yaml(_base_path(own, Path(path)))
    _raise(_wrong_base(own, base))
    return _laid_over(own, base)


def refuse_environment(path: str | os.PathLike[str]) -> None:
    """Refuse an environment file where a command writes into the file that has the clusters.

    Args:
        path: A file that `read_rollout` reads.

    Raises:
        FindingsError: UC2227 for an environment file.
    """
    source = read_yaml(path)
    if BASE in source.values:
        problem = (
            f"this environment file has no clusters of its own; they are in {shown(source.values[BASE])}"
        )
        _raise(
            [_finding(source, (BASE,), "UC2227", problem, remedy="Give the rollout that has the clusters")]
        )


def _raise(findings: list[Finding]) -> None:
    if findings:
        raise FindingsError(findings)


def _finding(source: YamlSource, loc: Loc, code: str, problem: str, **more: str) -> Finding:
    return Finding(code=code, problem=problem, path=loc_text(loc), location=source.location(loc), **more)


def _unread(source: YamlSource) -> list[Finding]:
    """Return what the YAML reader found wrong, each at its line."""
    return [
        each.finding(location=f"{source.name}:{each.line}" if each.line else source.location(each.loc))
        for each in source.problems
    ]


def _wrong_values(own: YamlSource) -> list[Finding]:
    findings = _unread(own)
    findings += [
        unknown_key((key,), ENVIRONMENT_KEYS, of="an environment file").finding(location=own.location((key,)))
        for key in own.values
        if key not in ENVIRONMENT_KEYS
    ]
    clusters = own.values.get("clusters", {})
    parts: list[tuple[Loc, Any]] = [
        (("defaults",), own.values.get("defaults", {})),
        (("clusters",), clusters),
    ]
    if isinstance(clusters, Mapping):
        parts += [(("clusters", name), each) for name, each in clusters.items()]
    findings += [
        wrong_type(loc, value, allowed="a mapping").finding(location=own.location(loc))
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
        problem = f"{base.name} is an environment file itself"
        findings.append(
            _finding(own, (BASE,), "UC2225", problem, remedy="Name the rollout that has the clusters")
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
        name = _at(base.values, loc).get("name")
        if isinstance(name, str):
            yield loc, name


def _at(values: Any, loc: Loc) -> Any:
    for part in loc:
        values = values[part]
    return values


class _Places:
    """File and line of each value, while an environment file is laid over its base."""

    def __init__(self, own: YamlSource, base: YamlSource) -> None:
        self.own = own
        self.lines = {place: line for place, line in base.lines.items() if place != ("version",)}
        self.names = dict.fromkeys(self.lines, base.name)
        self._take((), (), only=True)  # what is missing at the top is missing here

    def lay(self, value: Any, loc: Loc, under: Any, target: Loc) -> None:
        """Take over the places of what the environment file gives, and forget those that it replaces."""
        if isinstance(value, Mapping) and isinstance(under, Mapping):
            for key, part in value.items():
                self.lay(part, (*loc, key), under.get(key), (*target, key))
            return
        for place in [each for each in self.lines if each[: len(target)] == target]:
            del self.lines[place], self.names[place]
        self._take(loc, target)

    def _take(self, loc: Loc, target: Loc, *, only: bool = False) -> None:
        for place, line in self.own.lines.items():
            if place == loc or (not only and place[: len(loc)] == loc):
                there = (*target, *place[len(loc) :])
                self.lines[there], self.names[there] = line, self.own.name


def _laid_over(own: YamlSource, base: YamlSource) -> YamlSource:
    places = _Places(own, base)
    # A version is required in each file, so that of the base does not stand for a missing one.
    values = {key: value for key, value in base.values.items() if key != "version"}
    for key in ("version", "defaults"):
        if key in own.values:
            places.lay(own.values[key], (key,), base.values.get(key), (key,))
            values[key] = merge(base.values.get(key), own.values[key])
    given = own.values.get("clusters", {})
    changed: dict[Loc, Any] = {}
    for loc, name in _named_clusters(base):
        if name in given:
            under = _at(base.values, loc)
            places.lay(given[name], ("clusters", name), under, loc)
            changed[loc] = merge(under, given[name])
    if changed:
        values["waves"] = _with_clusters(values["waves"], changed)
    return replace(own, values=values, lines=places.lines, names=places.names, problems=())


def _with_clusters(waves: tuple[Any, ...], changed: Mapping[Loc, Any]) -> tuple[Any, ...]:
    def cluster(w: int, c: int, one: Any) -> Any:
        return changed.get(("waves", w, "clusters", c), one)

    return tuple(
        {**wave, "clusters": tuple(cluster(w, c, one) for c, one in enumerate(wave["clusters"]))}
        if isinstance(wave, Mapping) and isinstance(wave.get("clusters"), tuple)
        else wave
        for w, wave in enumerate(waves)
    )
