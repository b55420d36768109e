"""The rollout: all waves, with the file's defaults merged into each cluster."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import NoneType
from typing import Annotated, Any, Final, Literal, TypeVar

from ultracluster_spec.bounds import NOT_A_CHOICE, Bound, NotEmpty
from ultracluster_spec.capacity import CapacityRecord, placeholder_reservation
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.credentials import shown
from ultracluster_spec.findings import Finding, reject, require
from ultracluster_spec.names import Name
from ultracluster_spec.rules import Place
from ultracluster_spec.values import Value

_NEWEST: Final = 1


class _Version(Bound):
    """The file has a version that is known."""

    @property
    def json_schema(self) -> dict[str, Any]:
        """Nothing besides the type."""
        return {}

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return a finding with what to do about another version."""
        if type(value) is not int:
            remedy = "Write an integer without quotes"
        elif value > _NEWEST:
            remedy = "Upgrade ultracluster: the file is for a newer release"
        else:
            remedy = "Check the file: this version never existed"
        is_known = type(value) is int and value == _NEWEST
        return require(
            is_known, NOT_A_CHOICE, f"got {shown(value)}", allowed=str(_NEWEST), remedy=remedy, path=path
        )

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Check before pydantic does; what is no value of YAML, because it is not readable, is refused as such."""

        def validate(value: Any) -> Any:
            if isinstance(value, (str, int, float, list, dict, NoneType)):
                reject(self.check(value))
            return value

        function = {"type": "no-info", "function": validate}
        return {"type": "function-before", "function": function, "schema": handler(source)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Wave(Value):
    """Clusters that are deployed together. Moving a cluster to another wave does not change it."""

    name: Name
    """Name of the wave, unique in the rollout."""

    clusters: Annotated[tuple[Cluster, ...], NotEmpty()]
    """Clusters of the wave, at least one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollout(Value):
    """All clusters, in waves, with `defaults` merged into each cluster."""

    version: Annotated[Literal[1], _Version()]
    """Version of the file format: 1."""

    waves: Annotated[tuple[Wave, ...], NotEmpty()]
    """Waves in order of deployment, at least one."""

    def located_clusters(self) -> Iterator[tuple[Place, Cluster]]:
        """Iterate over the clusters that could be read, with the location of each in the file."""
        for w, wave in enumerate(getattr(self, "waves", ())):
            for c, cluster in enumerate(getattr(wave, "clusters", ())):
                yield ("waves", w, "clusters", c), cluster

    def select_waves(self, wave: str | None = None) -> list[Wave]:
        """Return all waves, or the one with a name, in the order of deployment."""
        return [candidate for candidate in self.waves if wave in (None, candidate.name)]

    def clusters(self, wave: str | None = None) -> list[Cluster]:
        """Return the clusters of all waves, or of the one with a name, in the order of deployment."""
        return [cluster for selected in self.select_waves(wave) for cluster in selected.clusters]


_Capacity = TypeVar("_Capacity", bound=CapacityRecord)


def with_placeholders(rollout: Rollout) -> Rollout:
    """Return a rollout in which a placeholder is the reservation of each order that is not resolved."""
    return replace(
        rollout,
        waves=tuple(
            replace(wave, clusters=tuple(map(_with_placeholders, wave.clusters))) for wave in rollout.waves
        ),
    )


def _with_placeholders(cluster: Cluster) -> Cluster:
    return replace(
        cluster,
        capacity=_resolved(cluster.capacity),
        additional_capacity=tuple(map(_resolved, cluster.additional_capacity)),
    )


def _resolved(capacity: _Capacity) -> _Capacity:
    if capacity.order is None or capacity.reservation_id is not None or capacity.market_type == "spot":
        return capacity
    return replace(capacity, reservation_id=placeholder_reservation(capacity.order))
