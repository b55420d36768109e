"""The rollout: all waves, with the file's defaults merged into each cluster."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BeforeValidator

from ultracluster_spec.capacity import CapacityRecord, placeholder_reservation
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.constraints import Constraint, NotEmpty, refusal
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name
from ultracluster_stacks.config.reading.problem import Loc, not_a_choice
from ultracluster_stacks.config.reading.yaml_source import UNREADABLE

_NEWEST: Final = 1


def _check_version(value: Any) -> Any:
    """Refuse a file of another version, with a remedy."""
    if value is UNREADABLE or (value == _NEWEST and type(value) is int):
        return value
    if type(value) is not int:
        remedy = "Write an integer without quotes"
    elif value > _NEWEST:
        remedy = "Upgrade ultracluster: the file is for a newer release"
    else:
        remedy = "Check the file: this version never existed"
    raise refusal(not_a_choice((), value, [str(_NEWEST)], remedy=remedy).finding)


class WaveConfig(ConfigModel):
    """Clusters that are deployed together. Moving a cluster to another wave does not change it."""

    name: Name
    """Name of the wave, unique in the rollout."""

    clusters: Annotated[tuple[ClusterConfig, ...], Constraint(NotEmpty())]
    """Clusters of the wave, at least one."""


class RolloutConfig(ConfigModel):
    """All clusters, in waves, with `defaults` merged into each cluster."""

    version: Annotated[Literal[1], BeforeValidator(_check_version)]
    """Version of the file format: 1."""

    waves: Annotated[tuple[WaveConfig, ...], Constraint(NotEmpty())]
    """Waves in order of deployment, at least one."""

    def located_clusters(self) -> Iterator[tuple[Loc, ClusterConfig]]:
        """Iterate over the clusters that could be read, with the location of each in the file."""
        for w, wave in enumerate(getattr(self, "waves", ())):
            for c, cluster in enumerate(getattr(wave, "clusters", ())):
                yield ("waves", w, "clusters", c), cluster

    def select_waves(self, wave: str | None = None) -> list[WaveConfig]:
        """Return all waves, or the one with a name, in the order of deployment."""
        return [candidate for candidate in self.waves if wave in (None, candidate.name)]

    def clusters(self, wave: str | None = None) -> list[ClusterConfig]:
        """Return the clusters of all waves, or of the one with a name, in the order of deployment."""
        return [cluster for selected in self.select_waves(wave) for cluster in selected.clusters]


_Capacity = TypeVar("_Capacity", bound=CapacityRecord)


def with_placeholders(rollout: RolloutConfig) -> RolloutConfig:
    """Return a rollout in which a placeholder is the reservation of each order that is not resolved."""
    waves = tuple(
        wave.model_copy(update={"clusters": tuple(map(_with_placeholders, wave.clusters))})
        for wave in rollout.waves
    )
    return rollout.model_copy(update={"waves": waves})


def _with_placeholders(cluster: ClusterConfig) -> ClusterConfig:
    return cluster.model_copy(
        update={
            "capacity": _resolved(cluster.capacity),
            "additional_capacity": tuple(map(_resolved, cluster.additional_capacity)),
        }
    )


def _resolved(capacity: _Capacity) -> _Capacity:
    if capacity.order is None or capacity.reservation_id is not None or capacity.market_type == "spot":
        return capacity
    return replace(capacity, reservation_id=placeholder_reservation(capacity.order))
