"""`gates` of a job: checks of its nodes before it starts."""

from typing import Annotated, Literal

from ultracluster_rules.job_definitions import LEAST_BANDWIDTH, MOST_LATENCY
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel


class GatesConfig(ConfigModel):
    """Jobs that must succeed first, on as many nodes as the job and with the same image."""

    fabric: bool = False
    """Whether to add the job JOB-fabric, which counts the EFA interfaces visible in the image and measures an all-reduce
    over all nodes. Default: no."""

    min_bandwidth: Annotated[int, constraint(LEAST_BANDWIDTH)] | None = None
    """Minimum bus bandwidth of an all-reduce of 1 GiB in the fabric gate, in GiB/s. Default: none; the job logs the
    measurement."""

    max_latency: Annotated[int, constraint(MOST_LATENCY)] | None = None
    """Maximum duration of an all-reduce of 1 KiB in the fabric gate, in microseconds. Default: none."""

    smoke: bool = False
    """Whether to add the job JOB-smoke, which trains a tiny model in every process and compares the losses of all ranks.
    Default: no."""

    device: Literal["xla", "neuron", "cuda"] | None = None
    """Torch device of the smoke training: xla for torch-neuronx, neuron for TorchNeuron, cuda for GPUs. Default: xla on
    Neuron instance types, else cuda."""
