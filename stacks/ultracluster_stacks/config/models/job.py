"""A job of a cluster: a job definition of AWS Batch, of one of three kinds."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from ultracluster_rules.credentials import names_credential
from ultracluster_rules.job_definitions import ARRAY_SIZE, ATTEMPTS, NODES, TIMEOUT_HOURS, VARIABLE
from ultracluster_stacks.config.models.constraints import Between, Form, constraint, refusal_of
from ultracluster_stacks.config.models.gates import GatesConfig
from ultracluster_stacks.config.models.machine import KNOWN_TYPE
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name
from ultracluster_stacks.config.models.neuron import NeuronConfig
from ultracluster_stacks.config.reading.problem import credential, shown

__all__ = ["PROCESSES_PER_NODE", "JobConfig"]

PROCESSES_PER_NODE: Final = Between(code="UC6103", least=1, most=1_024)

# Host with dot, colon or `localhost` is not demanded: `ubuntu:24.04` is a reference too (of Docker Hub).
_IMAGE: Final = (
    r"[a-z0-9]+(?:[._:/-]{1,2}[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)


def _check_secret(name: str) -> str:
    """A job definition is readable to everybody who may describe it."""
    if names_credential(name):
        raise refusal_of(credential(f"the value of {shown(name)} is a credential"))
    return name


_Variable = Annotated[
    str,
    constraint(VARIABLE),
    AfterValidator(_check_secret),
]


class JobConfig(ConfigModel):
    """One job definition. A job is submitted to a queue of its cluster."""

    name: Name = Field(description="Name of the job, once in a cluster: lower case, digits and hyphens.")
    kind: Literal["multi-node", "single-node", "precompile"] = Field(
        default="multi-node",
        description="multi-node; single-node, which has one node for itself; or precompile, which fills the compile "
        "cache on one small on-demand node. Default: multi-node.",
    )
    queue: Name | None = Field(
        default=None,
        description="Name of the further queue that `ultracluster jobs submit` gives the job to. Default: the cluster's "
        "own queue.",
    )
    image: Annotated[
        str,
        Form(
            code="UC6106",
            pattern=r"(?=.{1,255}$)" + _IMAGE,
            allowed="a container image, such as 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20",
        ),
    ] = Field(description="Container image with a tag that does not move, or a digest; in ECR of the Region.")
    command: tuple[str, ...] = Field(
        default=(),
        description="What the launcher starts, one argument per item: with torchrun a script, else a program.",
    )
    nodes: Annotated[int, constraint(NODES)] | None = Field(
        default=None, description="Number of nodes of a multi-node job. Default: all nodes of the cluster."
    )
    processes_per_node: Annotated[int, PROCESSES_PER_NODE] | None = Field(
        default=None,
        description="Processes that torchrun starts on each node. Default: one per logical NeuronCore.",
    )
    launcher: Literal["torchrun", "jax", "raw"] = Field(
        default="torchrun",
        description="What starts the command on each node: torchrun; jax, one process that is told its place; or raw, "
        "a program that starts its own processes. Default: torchrun.",
    )
    environment: dict[_Variable, str] = Field(
        default_factory=dict,
        description="Environment variables of the container. No credentials: the job reads those from "
        "AWS Secrets Manager.",
    )
    timeout_hours: Annotated[int, constraint(TIMEOUT_HOURS)] | None = Field(
        default=None, description="Hours after which Batch ends an attempt. Default: none."
    )
    attempts: Annotated[int, constraint(ATTEMPTS)] | None = Field(
        default=None,
        description="How often Batch starts the job in all when its host is lost, 1 to 10. Default: once for a "
        "multi-node job, 3 times for others.",
    )
    neuron: NeuronConfig = Field(
        default_factory=NeuronConfig.model_construct,
        description="Settings of the Neuron compiler and runtime.",
    )
    depends_on: tuple[Name, ...] = Field(
        default=(),
        description="Jobs of the cluster that have to succeed before; `ultracluster jobs submit` submits them first.",
    )
    without_efa: bool = Field(
        default=False,
        description="Whether several nodes of a type without EFA are meant for a multi-node job: they talk over TCP, at a "
        "fraction of the speed. Default: they are refused.",
    )
    array_size: Annotated[int, constraint(ARRAY_SIZE)] | None = Field(
        default=None,
        description="Jobs of an array of a single-node job, 2 to 10,000. Default: one job and no array.",
    )
    instance_type: Annotated[str, KNOWN_TYPE] | None = Field(
        default=None,
        description="Type of the node of a precompile job. Default: the smallest with the cluster's chips in its zone.",
    )
    method: Literal["neuron-parallel-compile", "first-steps"] = Field(
        default="neuron-parallel-compile",
        description="How a precompile job finds the graphs: neuron-parallel-compile (torch-neuronx), or the first-steps "
        "of the program itself.",
    )
    phase: Literal["all", "collect", "compile"] = Field(
        default="all",
        description="What a precompile job does: all; collect graphs only; or compile those collected before.",
    )
    gates: GatesConfig = Field(
        default_factory=GatesConfig.model_construct,
        description="Jobs that have to succeed before this one; submitting it submits them first. Default: none.",
    )

    @property
    def gate_names(self) -> tuple[str, ...]:
        """Names of the gates of the job, in the order in which they run."""
        wanted = {"fabric": self.gates.fabric, "smoke": self.gates.smoke}
        return tuple(f"{self.name}-{gate}" for gate, is_wanted in wanted.items() if is_wanted)
