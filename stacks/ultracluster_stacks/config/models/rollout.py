"""The rollout: all waves, with the defaults already in each cluster."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from ultracluster_stacks.config.models.constraints import NotEmpty, refusal
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.wave import WaveConfig
from ultracluster_stacks.config.reading.problem import shown
from ultracluster_stacks.config.reading.yaml_source import UNREADABLE

__all__ = ["RolloutConfig"]


_NEWEST: Final = 1


def _check_version(value: Any) -> Any:
    """Say what to do about a file of another version; an old version that goes gets a command that rewrites it."""
    if value is UNREADABLE or (value == _NEWEST and type(value) is int):
        return value
    if type(value) is not int:
        remedy = "Write it as a whole number, without quotes"
    elif value > _NEWEST:
        remedy = "Update ultracluster: the file was written for a newer one"
    else:
        remedy = "Check the file: there never was such a version"
    raise refusal(code="UC1023", problem=f"got {shown(value)}", allowed=f"{_NEWEST}", remedy=remedy)


class RolloutConfig(ConfigModel):
    """All clusters, in waves. What a file says under `defaults` is already in each cluster here."""

    version: Annotated[Literal[1], BeforeValidator(_check_version)] = Field(
        description="Version of the form of this file: 1."
    )
    waves: Annotated[tuple[WaveConfig, ...], NotEmpty()] = Field(
        description="The waves in the order of deployment, at least one."
    )
