"""`gates` of a job: checks of its nodes that run with its image before it starts."""

from typing import Annotated, Literal

from pydantic import Field

from ultracluster_rules.job_definitions import LEAST_BANDWIDTH, MOST_LATENCY
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

__all__ = ["GatesConfig"]


class GatesConfig(ConfigModel):
    """Jobs that have to succeed before the job itself, on as many nodes and with the same image."""

    fabric: bool = Field(
        default=False,
        description="Whether a job JOB-fabric counts the EFA interfaces that the image sees and measures an all-reduce "
        "over all nodes. Default: no.",
    )
    least_bandwidth: Annotated[int, constraint(LEAST_BANDWIDTH)] | None = Field(
        default=None,
        description="GiB/s of bus bandwidth that an all-reduce of 1 GiB must reach in the fabric gate. Default: any; its "
        "log says what was measured.",
    )
    most_latency: Annotated[int, constraint(MOST_LATENCY)] | None = Field(
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
