"""What a rollout is going to do, fixed before anything is done and written down with it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["ALARMS", "DEPLOY", "JOB", "PREFLIGHT", "STACKS", "PlannedCluster", "PlannedStack", "RolloutPlan"]

PREFLIGHT: Final = "preflight"
"""The step that asks, before anything is changed, whether the account has what a cluster needs."""
DEPLOY: Final = "deploy"
"""The step that deploys the stacks of a cluster."""
STACKS: Final = "stacks"
"""The gate that asks whether CloudFormation has exactly what was planned, in a healthy state."""
JOB: Final = "job:"
"""What the gates begin with that wait for a job; the job's name follows."""
ALARMS: Final = "alarms"
"""The gate that wants no alarm of the cluster for as long as the rollout bakes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedStack:
    """A stack of a cluster.

    Attributes:
        name: Its name in CloudFormation.
        region: Its Region.
        before: Digest of the template that was deployed when the rollout was planned. None if there was none.
        after: Digest of the template to deploy.
    """

    name: str
    region: str
    before: str | None
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedCluster:
    """A cluster and the steps that it takes, one after the other.

    Attributes:
        name: Name of its stage, such as ``canary-us-east-1``.
        wave: Its wave.
        region: Its Region.
        assembly: Folder of the cloud assembly to deploy, below the folder of all rollouts.
        stacks: Its stacks.
        steps: `PREFLIGHT` if it is not left out, `DEPLOY`, then its gates.
    """

    name: str
    wave: str
    region: str
    assembly: str
    stacks: tuple[PlannedStack, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutPlan:
    """A rollout, or the rollback of a wave of an earlier one.

    Attributes:
        file: The rollout file.
        digest: Of the clusters that it described.
        target: The account, or the local AWS, that it goes to.
        bake_minutes: How long `ALARMS` looks.
        waves: The waves in order.
        clusters: The clusters in order.
        undoes: The rollout whose wave this rolls back. None for a rollout forward.
    """

    file: str
    digest: str
    target: str
    bake_minutes: float
    waves: tuple[str, ...]
    clusters: tuple[PlannedCluster, ...]
    undoes: str | None = None

    def as_values(self) -> dict[str, Any]:
        """Give the plan as plain values, for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "RolloutPlan":
        """Read what `as_values` gave.

        Raises:
            KeyError: If something is missing.
            TypeError: If something is of another type, or not known.
        """
        clusters = tuple(
            PlannedCluster(
                **{
                    **cluster,
                    "stacks": tuple(PlannedStack(**stack) for stack in cluster["stacks"]),
                    "steps": tuple(cluster["steps"]),
                }
            )
            for cluster in values["clusters"]
        )
        return cls(**{**values, "waves": tuple(values["waves"]), "clusters": clusters})
