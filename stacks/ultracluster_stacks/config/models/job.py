"""A job of a cluster: an AWS Batch job definition of one of three kinds."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from ultracluster_rules.credentials import names_credential
from ultracluster_rules.job_definitions import (
    ARRAY_SIZE,
    ATTEMPTS,
    IMAGE_REFERENCE,
    NODES,
    RESUME,
    TIMEOUT_HOURS,
    VARIABLE,
)
from ultracluster_rules.machines import COMPILE_TYPE
from ultracluster_stacks.config.models.constraints import Between, constraint, refusal
from ultracluster_stacks.config.models.gates import GatesConfig
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name
from ultracluster_stacks.config.models.neuron import NeuronConfig
from ultracluster_stacks.config.models.permissions import PermissionsConfig, SecretArn
from ultracluster_stacks.config.reading.problem import credential, shown

PROCESSES_PER_NODE: Final = Between(code="UC6103", least=1, most=1_024)


def _check_secret(name: str) -> str:
    """Refuse credentials: everyone who may describe a job definition can read its variables."""
    if names_credential(name):
        raise refusal(credential(f"the value of {shown(name)} is a credential"))
    return name


_Variable = Annotated[str, constraint(VARIABLE), AfterValidator(_check_secret)]


_Secret = Annotated[str, constraint(VARIABLE)]


class JobConfig(ConfigModel):
    """A job definition, from which jobs are submitted to a queue of the cluster."""

    name: Name
    """Name of the job, unique in the cluster: lower case letters, digits and hyphens."""

    kind: Literal["multi-node", "single-node", "precompile"] = "multi-node"
    """multi-node; single-node, which has a node to itself; or precompile, which fills the compile cache on a small on-demand
    node. Default: multi-node."""

    queue: Name | None = None
    """Name of the additional queue that `ultracluster jobs submit` uses. Default: `queue` of the cluster."""

    image: Annotated[str, constraint(IMAGE_REFERENCE)]
    """Container image with an immutable tag or a digest, in the Amazon ECR of the Region."""

    command: tuple[str, ...] = ()
    """Arguments for the launcher, one per item: a script and its arguments for torchrun, else a program."""

    nodes: Annotated[int, constraint(NODES)] | None = None
    """Number of nodes of a multi-node job. Default: all nodes of the cluster."""

    processes_per_node: Annotated[int, PROCESSES_PER_NODE] | None = None
    """Number of processes that torchrun starts on each node. Default: one per logical NeuronCore."""

    launcher: Literal["torchrun", "jax", "raw"] = "torchrun"
    """How the command starts on each node: torchrun; jax, one process that receives its rank; or raw, a program that starts
    its own processes. Default: torchrun."""

    environment: dict[_Variable, str] = Field(default_factory=dict)
    """Environment variables of the container, without credentials: those are `secrets`. Default: none."""

    secrets: dict[_Secret, SecretArn] = Field(default_factory=dict)
    """Environment variables with the ARN of a secret of AWS Secrets Manager, optionally followed by `:KEY::` for one key of
    it, or of a parameter of Systems Manager. The former needs `endpoints: [secretsmanager]` or a NAT gateway in `network`.
    Default: none."""

    permissions: PermissionsConfig = Field(default_factory=PermissionsConfig.model_construct)
    """What the program may do besides using the compile cache, checkpoints and datasets. Default: nothing."""

    timeout_hours: Annotated[int, constraint(TIMEOUT_HOURS)] | None = None
    """Hours after which AWS Batch terminates an attempt. Default: no timeout."""

    attempts: Annotated[int, constraint(ATTEMPTS)] | None = None
    """Number of attempts if the host is lost, 1 to 10. Default: 1 for a multi-node job, 3 for others."""

    resume: Annotated[int, constraint(RESUME)] = 0
    """How often the job is submitted again after the drain of a Capacity Block or the loss of a node, so that it continues
    from its last checkpoint, 0 to 100. Not for arrays and precompile jobs. Default: 0."""

    neuron: NeuronConfig = Field(default_factory=NeuronConfig.model_construct)
    """Settings of the Neuron compiler and runtime. Default: Neuron's defaults."""

    depends_on: tuple[Name, ...] = ()
    """Jobs of the cluster that must succeed first; `ultracluster jobs submit` submits them too. Default: none."""

    without_efa: bool = False
    """Whether to allow a multi-node job on instance types without EFA, which communicate over TCP at a fraction of the
    speed. Default: no."""

    array_size: Annotated[int, constraint(ARRAY_SIZE)] | None = None
    """Size of the array job for a single-node job, 2 to 10,000. Default: no array."""

    instance_type: Annotated[str, constraint(COMPILE_TYPE)] | None = None
    """Instance type of a precompile job, or cpu for a host without Neuron devices, which compiles graphs that were collected
    before. Default: the smallest with the cluster's chips in its zone; for phase: compile, where there is none, cpu."""

    method: Literal["neuron-parallel-compile", "first-steps"] = "neuron-parallel-compile"
    """How a precompile job collects graphs: neuron-parallel-compile (torch-neuronx), or first-steps, which runs the program.
    Default: neuron-parallel-compile."""

    phase: Literal["all", "collect", "compile"] = "all"
    """Phase of a precompile job: collect graphs, compile graphs collected before, or all. Default: all."""

    gates: GatesConfig = Field(default_factory=GatesConfig.model_construct)
    """Jobs that check the nodes first; submitting this job submits them too. Default: none."""

    @property
    def gate_names(self) -> tuple[str, ...]:
        """Names of the job's gates in the order in which they run."""
        gates = {"fabric": self.gates.fabric, "smoke": self.gates.smoke}
        return tuple(f"{self.name}-{gate}" for gate, is_enabled in gates.items() if is_enabled)
