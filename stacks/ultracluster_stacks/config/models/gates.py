"""Gates of a job: what is looked at on its nodes, with its image, before it starts."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from ultracluster_stacks.config.models.constraints import Between
from ultracluster_stacks.config.models.machine import machine_of
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.reading.problem import Problem, shown

if TYPE_CHECKING:
    from ultracluster_stacks.config.models.cluster import ClusterConfig
    from ultracluster_stacks.config.models.job import JobConfig

__all__ = ["RULES", "GatesConfig", "gate_names"]


class GatesConfig(ConfigModel):
    """Jobs that have to succeed before the job itself, on as many nodes and with the same image."""

    fabric: bool = Field(
        default=False,
        description="Whether a job JOB-fabric counts the EFA interfaces that the image sees and measures an all-reduce "
        "over all nodes. Default: no.",
    )
    least_bandwidth: Annotated[int, Between(code="UC6151", least=1, most=10_000)] | None = Field(
        default=None,
        description="GiB/s of bus bandwidth that an all-reduce of 1 GiB must reach in the fabric gate. Default: any; its "
        "log says what was measured.",
    )
    most_latency: Annotated[int, Between(code="UC6151", least=1, most=10_000_000)] | None = Field(
        default=None,
        description="Microseconds that an all-reduce of 1 KiB may take in the fabric gate. Default: any.",
    )
    smoke: bool = Field(
        default=False,
        description="Whether a job JOB-smoke trains a tiny model in every process and compares the losses of all ranks. "
        "Default: no.",
    )
    device: Literal["xla", "neuron", "cuda"] | None = Field(
        default=None,
        description="What torch calls the device in the smoke training: xla for torch-neuronx, neuron for TorchNeuron, "
        "cuda for GPUs. Default: xla on Neuron types, else cuda.",
    )


def gate_names(job: "JobConfig") -> tuple[str, ...]:
    """Give the names of the gates of a job, in the order in which they run.

    Args:
        job: The job.
    """
    wanted = {"fabric": job.gates.fabric, "smoke": job.gates.smoke}
    return tuple(f"{job.name}-{gate}" for gate, is_wanted in wanted.items() if is_wanted)


def gates_have_their_own_names(cluster: "ClusterConfig", job: "JobConfig") -> Iterator[Problem]:
    """A gate is a job, whose name must not be that of another one."""
    for name in sorted(set(gate_names(job)) & {getattr(each, "name", None) for each in cluster.jobs}):
        yield Problem(
            loc=("gates",),
            code="UC6153",
            problem=f"the gate is called {shown(name)}, and so is a job",
            remedy="Give that job another name",
        )


def gates_protect_several_nodes(cluster: "ClusterConfig", job: "JobConfig") -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """A job of one container has no nodes to compare."""
    if job.kind != "multi-node" and gate_names(job):
        yield Problem(
            loc=("gates",),
            code="UC6112",
            problem=f"got gates for a {job.kind} job",
            remedy="Leave them out, or set kind: multi-node",
        )


def fabric_is_there(cluster: "ClusterConfig", job: "JobConfig") -> Iterator[Problem]:
    """There is nothing to look at on nodes without EFA."""
    if job.gates.fabric and not machine_of(cluster).efa_interfaces:
        yield Problem(
            loc=("gates", "fabric"),
            code="UC6150",
            problem=f"{cluster.instance_type} has no EFA, so there is no fabric to look at",
            remedy="Leave it out, or choose an instance type with EFA",
        )


RULES: Final[tuple[Callable[["ClusterConfig", "JobConfig"], Iterator[Problem]], ...]] = (
    gates_have_their_own_names,
    gates_protect_several_nodes,
    fabric_is_there,
)
"""Rules over the gates of one job; places are seen from the job."""
