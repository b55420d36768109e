"""A wave of the rollout: clusters that are deployed together."""

from typing import Annotated

from pydantic import Field

from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.constraints import NotEmpty
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name

__all__ = ["WaveConfig"]


class WaveConfig(ConfigModel):
    """Clusters that are deployed together. A wave selects clusters; moving one to another wave changes nothing else."""

    name: Name = Field(description="Name of the wave, once in a rollout.")
    clusters: Annotated[tuple[ClusterConfig, ...], NotEmpty()] = Field(
        description="The clusters of the wave, at least one."
    )
