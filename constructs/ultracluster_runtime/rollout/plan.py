"""Plan of a rollout, fixed and recorded before anything changes."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

PREFLIGHT: Final = "preflight"  # step that checks the account before anything changes
DEPLOY: Final = "deploy"  # step that deploys the stacks of a cluster
STACKS: Final = "stacks"  # gate: CloudFormation has exactly the planned stacks, in a healthy state
JOB: Final = "job:"  # prefix of gates that wait for a job; the name of the job follows
ALARMS: Final = "alarms"  # gate: no alarm of the cluster fires during the bake time


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedStack:
    """Stack of a cluster."""

    name: str
    region: str
    before: str | None  # digest of the template that was deployed at planning time; None if there was none
    after: str  # digest of the template to deploy


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedCluster:
    """Cluster and its steps, in order."""

    name: str  # name of its stage, such as canary-us-east-1
    wave: str
    region: str
    assembly: str  # folder of the cloud assembly to deploy, relative to the folder of all rollouts
    stacks: tuple[PlannedStack, ...]
    steps: tuple[str, ...]  # PREFLIGHT unless skipped, DEPLOY, then the gates


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutPlan:
    """Rollout, or rollback of a wave of an earlier rollout."""

    file: str
    digest: str  # digest of the clusters in that file
    target: str  # target account, or the local AWS
    bake_minutes: float  # duration of the gate ALARMS in minutes
    waves: tuple[str, ...]
    clusters: tuple[PlannedCluster, ...]
    undoes: str | None = None  # rollout whose wave this rolls back; None for a forward rollout

    def as_values(self) -> dict[str, Any]:
        """Return the plan as plain values, for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "RolloutPlan":
        """Create a plan from what `as_values` returned; KeyError or TypeError if it is something else."""
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
