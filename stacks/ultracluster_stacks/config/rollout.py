"""The rollout: all waves, with the defaults already in each cluster."""

from typing import Annotated, Literal

from pydantic import Field

from ultracluster_stacks.config.field_rules import NotEmpty
from ultracluster_stacks.config.model import ConfigModel
from ultracluster_stacks.config.wave import WaveConfig

__all__ = ["RolloutConfig"]


class RolloutConfig(ConfigModel):
    """All clusters, in waves. What a file says under `defaults` is already in each cluster here."""

    version: Literal[1] = Field(description="Version of the form of this file: 1.")
    waves: Annotated[tuple[WaveConfig, ...], NotEmpty()] = Field(
        description="The waves in the order of deployment, at least one."
    )
