"""Arguments that the job constructs share, each of them declared and documented once."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Required, TypedDict

from aws_cdk import Duration
from aws_cdk import aws_batch as batch

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.launcher import Launcher
from ultracluster_spec.neuron import Neuron

if TYPE_CHECKING:
    from ultracluster.jobs.job import Job


class GateOptions(TypedDict, total=False):
    """Arguments of every job, gates included.

    Attributes:
        image: Container image with a tag or digest. A `ContainerImage` also grants the job permission to pull it. A gate
            needs the image of the job that it protects. Nodes of the default network reach Amazon ECR only.
        neuron: Settings of the Neuron compiler and runtime. Default: Neuron's defaults.
        depends_on: Jobs that must succeed first, up to 20; `ultracluster jobs submit` submits them. Default: none.
    """

    image: Required[str | ContainerImage]
    neuron: Neuron | None
    depends_on: Sequence["Job"]


class ProgramOptions(TypedDict, total=False):
    """Arguments that describe the program of a job.

    Attributes:
        command: Program and arguments for the launcher. With torchrun a script and its arguments, such as
            ``["train.py", "--steps", "1000"]``; otherwise an executable.
        environment: Additional environment variables. Default: none.
        secrets: Environment variables with secrets of AWS Secrets Manager or parameters of Systems Manager, which the execution
            role reads when the job starts; job definitions show their ARNs only. Secrets Manager needs an endpoint or a NAT
            gateway in the network. Default: none.
        launcher: ``torchrun``; ``jax``, which starts one process per node and configures JAX and the Neuron runtime for
            it; or ``raw``, which only sets MASTER_ADDR, MASTER_PORT, NNODES and NODE_RANK. Default: ``torchrun``.
        timeout: Maximum duration of an attempt. Default: unlimited.
    """

    command: Required[Sequence[str]]
    environment: Mapping[str, str] | None
    secrets: Mapping[str, batch.Secret] | None
    launcher: Launcher
    timeout: Duration | None


class JobOptions(GateOptions, ProgramOptions, total=False):
    """Arguments of every job that runs a program of yours.

    Attributes:
        processes_per_node: Processes that torchrun starts on each node. Default: one per logical NeuronCore or GPU, 64 on
            a trn2.48xlarge unless `neuron` changes their number; one with the other launchers.
        attempts: How many times the job starts, 1 to 10. Only the loss of a host, such as a reclaimed Spot instance,
            leads to another attempt; a failure of the program does not. Default: 1 for a multi-node job, 3 otherwise.
        resume: How often the job is submitted again after the drain of a Capacity Block or the loss of a node, 0 to 100,
            so that it continues from its last checkpoint; see `JobResume`. Not for arrays and precompile jobs. Default: 0.
    """

    processes_per_node: int | None
    attempts: int
    resume: int


def check_options(options: Mapping[str, object], allowed: Any) -> None:
    """Raise for an argument that is unknown or missing, as Python does for explicit parameters.

    Args:
        options: Keyword arguments of a call.
        allowed: `TypedDict` of the allowed ones.

    Raises:
        TypeError: If one of them is unknown, or a required one is missing.
    """
    for name in options:
        if name not in allowed.__annotations__:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
    for name in allowed.__annotations__:
        if name in allowed.__required_keys__ and name not in options:
            raise TypeError(f"missing the required keyword argument {name!r}")
