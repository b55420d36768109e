"""`neuron` of a job: settings of the Neuron compiler and runtime."""

from typing import Annotated, Literal

from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.jobs import NEURON_INTEGER
from ultracluster_stacks.config.models.constraints import constraint
from ultracluster_stacks.config.models.model import ConfigModel

_Count = Annotated[int, constraint(NEURON_INTEGER)]


class NeuronConfig(ConfigModel):
    """Settings of the Neuron compiler and runtime of a job. All defaults are Neuron's."""

    logical_nc_config: Literal[1, 2] | None = None
    """Physical NeuronCores per logical NeuronCore; Trainium2 only. Determines the number of processes per node. Default: 2
    on Trainium2."""

    model_type: Literal["generic", "transformer", "unet-inference"] | None = None
    """Model type to optimize for. Default: generic."""

    auto_cast: Literal["none", "matmult", "all"] | None = None
    """FP32 operations to cast to a lower precision. Default: none."""

    auto_cast_type: Literal["bf16", "fp16", "tf32", "fp8_e4m3"] | None = None
    """Data type of `auto_cast`. Default: bf16."""

    optlevel: Literal[1, 2, 3] | None = None
    """Optimization level; 1 compiles fastest. Default: 2."""

    llm_training: bool = False
    """Whether to optimize for large language models sharded over data-parallel workers. Default: no."""

    mixed_precision_accumulation: bool | None = None
    """Whether to accumulate in FP32. Default: yes."""

    saturate_infinity: bool = False
    """Whether to replace infinities by the largest finite numbers in transposes. Default: no."""

    compiler_flags: tuple[str, ...] = ()
    """More flags of neuronx-cc, one per item, such as --verbose=info. Default: none."""

    stochastic_rounding: bool | None = None
    """Whether to round stochastically to lower precisions. Default: chosen by the framework."""

    stochastic_rounding_seed: _Count | None = None
    """Seed of stochastic rounding. Default: 0."""

    exec_timeout_seconds: _Count | None = None
    """Timeout of one execution on a NeuronCore in seconds. Default: 600."""

    async_requests: _Count | None = None
    """Maximum number of queued asynchronous executions, up to 3; ignored since SDK 2.31. Default: 0."""

    log_level: Literal["ERROR", "WARNING", "INFO", "DEBUG", "TRACE"] | None = None
    """Log level of the runtime. Default: ERROR."""

    def settings(self) -> NeuronSettings | None:
        """Return the settings for the constructs, or None if nothing is set."""
        settings = NeuronSettings(**{name: getattr(self, name) for name in type(self).model_fields})
        return None if settings == NeuronSettings() else settings
