"""A wave of the rollout: clusters that are deployed together."""

from typing import Annotated

from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.constraints import NotEmpty
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name


class WaveConfig(ConfigModel):
    """Clusters that are deployed together. Moving a cluster to another wave does not change it."""

    name: Name
    """Name of the wave, unique in the rollout."""

    clusters: Annotated[tuple[ClusterConfig, ...], NotEmpty()]
    """Clusters of the wave, at least one."""
