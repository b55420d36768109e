"""The origin of each value of a rollout: the cluster, the defaults of the file, or a built-in default."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ultracluster_spec.values import Value, fields_of, sentences
from ultracluster_stacks.config.loading.loader import load_rollout
from ultracluster_stacks.config.reading.defaults import CLUSTER_DEPTH, origin
from ultracluster_stacks.config.reading.environment import read_rollout
from ultracluster_stacks.config.reading.problem import Loc, loc_text
from ultracluster_stacks.config.reading.yaml_source import YamlSource


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedValue:
    """One value of a cluster.

    Attributes:
        path: Where it is in the cluster, such as ``file_system.storage_capacity_gib``.
        value: What it is, in plain values. None for what was not given and has no fixed default; see `note`.
        given_by: ``cluster``, ``defaults`` or ``built in``.
        location: File and line that give it; empty for what is built in.
        note: What a built-in None means, in the words of the schema; else empty.
    """

    path: str
    value: Any
    given_by: Literal["cluster", "defaults", "built in"]
    location: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedCluster:
    """One cluster with all its values, in the order of the schema."""

    wave: str
    name: str
    region: str
    values: tuple[ExplainedValue, ...]


def explain_rollout(path: str | os.PathLike[str]) -> tuple[ExplainedCluster, ...]:
    """Return the origin of each value of each cluster of a rollout file, which is read as by `load_rollout`."""
    config = load_rollout(path).config
    source = read_rollout(path)
    return tuple(
        ExplainedCluster(
            wave=wave.name,
            name=cluster.name,
            region=cluster.region,
            values=tuple(_values(cluster, ("waves", w, "clusters", c), source)),
        )
        for w, wave in enumerate(config.waves)
        for c, cluster in enumerate(wave.clusters)
    )


def _values(value: Any, loc: Loc, source: YamlSource, note: str = "") -> Iterator[ExplainedValue]:
    """Yield the values that are set as a whole: mappings merge key by key, lists of values do not."""
    if isinstance(value, Value) and value.word:
        yield _explained(value.word, loc, source, note)
    elif isinstance(value, Value):
        descriptions = sentences(type(value))
        for name in fields_of(type(value)):
            note = descriptions[name].partition("Default: ")[2].rstrip(".")
            yield from _values(getattr(value, name), (*loc, name), source, note)
    elif isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _values(part, (*loc, key), source)
    elif isinstance(value, tuple) and any(isinstance(part, Value) for part in value):
        for index, part in enumerate(value):
            yield from _values(part, (*loc, index), source)
    else:
        yield _explained(value, loc, source, note)


def _explained(value: Any, loc: Loc, source: YamlSource, note: str) -> ExplainedValue:
    place = origin(source.values, loc)
    given = place in source.places
    return ExplainedValue(
        path=loc_text(loc[CLUSTER_DEPTH:]),
        value=list(value) if isinstance(value, tuple) else value,
        given_by="built in" if not given else "defaults" if place[0] == "defaults" else "cluster",
        location=source.location(place) if given else "",
        note="" if given or value is not None else note,
    )
