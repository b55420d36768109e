"""`neuron` of a job: settings of the Neuron compiler and runtime."""

from typing import Annotated, Literal

from pydantic import Field

from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.jobs import NEURON_INTEGER
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

__all__ = ["NeuronConfig"]

_Count = Annotated[int, constraint(NEURON_INTEGER)]


class NeuronConfig(ConfigModel):
    """Settings of the Neuron compiler and runtime. Each default is that of Neuron."""

    logical_nc_config: Literal[1, 2] | None = Field(
        default=None,
        description="Physical NeuronCores in a logical one; Trainium2 only. Decides how many processes a node has. "
        "Default: 2 on Trainium2.",
    )
    model_type: Literal["generic", "transformer", "unet-inference"] | None = Field(
        default=None, description="Kind of model that the compiler optimizes for. Default: generic."
    )
    auto_cast: Literal["none", "matmult", "all"] | None = Field(
        default=None, description="Which FP32 operations are cast to a lower precision. Default: none."
    )
    auto_cast_type: Literal["bf16", "fp16", "tf32", "fp8_e4m3"] | None = Field(
        default=None, description="What they are cast to; only with auto_cast. Default: bf16."
    )
    optlevel: Literal[1, 2, 3] | None = Field(
        default=None, description="Optimization level; 1 compiles fastest. Default: 2."
    )
    llm_training: bool = Field(
        default=False,
        description="Whether the compiler optimizes for large language models that are sharded over data-parallel "
        "workers.",
    )
    mixed_precision_accumulation: bool | None = Field(
        default=None, description="Whether sums are kept in FP32. Default: they are."
    )
    saturate_infinity: bool = Field(
        default=False, description="Whether infinities become the largest finite numbers in transposes."
    )
    compiler_flags: tuple[str, ...] = Field(
        default=(), description="Further flags of neuronx-cc, one per item, such as --verbose=info."
    )
    stochastic_rounding: bool | None = Field(
        default=None,
        description="Whether FP32 is rounded at random to lower precisions. Default: left to the framework.",
    )
    stochastic_rounding_seed: _Count | None = Field(default=None, description="Its seed. Default: 0.")
    exec_timeout_seconds: _Count | None = Field(
        default=None,
        description="Seconds that one execution may take on a NeuronCore before the runtime fails it. Default: 30.",
    )
    async_requests: _Count | None = Field(
        default=None,
        description="Executions that the runtime queues, up to 3; SDKs from 2.31 on ignore it. Default: none.",
    )
    log_level: Literal["ERROR", "WARNING", "INFO", "DEBUG", "TRACE"] | None = Field(
        default=None, description="How much the runtime logs. Default: ERROR."
    )

    def settings(self) -> NeuronSettings | None:
        """The settings for the constructs; None when nothing is set."""
        settings = NeuronSettings(**{name: getattr(self, name) for name in type(self).model_fields})
        return None if settings == NeuronSettings() else settings
