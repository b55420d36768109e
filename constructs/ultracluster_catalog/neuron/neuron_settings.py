"""Neuron compiler and runtime settings of a job, and the flags and environment variables that they become.

Sources, Neuron documentation: Neuron Compiler CLI Reference Guide and Neuron Runtime configuration of SDK 2.32 (page
sources of 2026-08-21), Logical NeuronCore configuration, JAX and PyTorch NeuronX environment variables (the same day),
and the announcement of 2026-06-28 on implicit asynchronous execution.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

from ultracluster_catalog.machines.instance_type import InstanceType

__all__ = [
    "ASYNC_REQUESTS_THAT_FIT",
    "LARGEST_NEURON_INTEGER",
    "NEURON_CHOICES",
    "NeuronSettings",
    "compile_target",
]

_ModelType = Literal["generic", "transformer", "unet-inference"]
_AutoCast = Literal["none", "matmult", "all"]
_AutoCastType = Literal["bf16", "fp16", "tf32", "fp8_e4m3"]
_RuntimeLogLevel = Literal["ERROR", "WARNING", "INFO", "DEBUG", "TRACE"]
ASYNC_REQUESTS_THAT_FIT: Final = 3
"""The queue depth that the documentation recommends; a deeper one may exhaust device memory."""

LARGEST_NEURON_INTEGER: Final = 2**31 - 1
"""The largest integer that the runtime takes as a seed, a timeout or a queue depth."""

NEURON_CHOICES: Final[Mapping[str, tuple[object, ...]]] = MappingProxyType(
    {
        "logical_nc_config": (1, 2),
        "model_type": get_args(_ModelType),
        "auto_cast": get_args(_AutoCast),
        "auto_cast_type": get_args(_AutoCastType),
        "optlevel": (1, 2, 3),
        "log_level": get_args(_RuntimeLogLevel),
    }
)
"""Allowed values of the settings that have a fixed set of them."""

_LNC: Final = "NEURON_LOGICAL_NC_CONFIG"

# Values of --target of neuronx-cc.
_TARGETS: Final[Mapping[str, str]] = {"Trainium": "trn1", "Trainium2": "trn2", "Inferentia2": "inf2"}


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronSettings:
    """Neuron compiler and runtime settings of a job. Omitted settings keep Neuron's defaults.

    Attributes:
        logical_nc_config: Physical NeuronCores per logical NeuronCore, 1 or 2, for compiler and runtime; Trainium2 only.
            Determines the number of processes per node. Default: 2 on Trainium2.
        model_type: Kind of model that the compiler optimizes for. Default: generic.
        auto_cast: Which FP32 operations are cast to a lower precision. Default: none.
        auto_cast_type: Target type of the cast; only with auto_cast. Default: bf16.
        optlevel: Optimization level, 1 to 3; 1 compiles fastest. Default: 2.
        llm_training: Whether the compiler optimizes for large language models whose parameters, gradients and
            optimizer states are sharded over data-parallel workers. Default: no.
        mixed_precision_accumulation: Whether sums are kept in FP32. Default: yes.
        saturate_infinity: Whether infinities become the largest finite numbers in transposes, which Trainium may
            need; no effect on Trainium2. Default: no.
        compiler_flags: Additional flags, one per item, such as ``--verbose=info``. Default: none.
        stochastic_rounding: Whether casts from FP32 round stochastically. Default: decided by the framework.
        stochastic_rounding_seed: Seed of stochastic rounding, 0 to 2,147,483,647. Default: 0.
        exec_timeout_seconds: Time in seconds after which the runtime fails an execution on a NeuronCore. The timeout
            also ends a run in which another node is slow. Default: 600 seconds.
        async_requests: Executions that the runtime queues, 0 for none. Only SDKs before 2.31 read it, such as the one of
            torch-neuronx on Trainium; later SDKs ignore it. Default: none.
        log_level: Log level of the runtime. Default: ERROR.
    """

    logical_nc_config: Literal[1, 2] | None = None
    model_type: _ModelType | None = None
    auto_cast: _AutoCast | None = None
    auto_cast_type: _AutoCastType | None = None
    optlevel: Literal[1, 2, 3] | None = None
    llm_training: bool = False
    mixed_precision_accumulation: bool | None = None
    saturate_infinity: bool = False
    compiler_flags: tuple[str, ...] = ()
    stochastic_rounding: bool | None = None
    stochastic_rounding_seed: int | None = None
    exec_timeout_seconds: int | None = None
    async_requests: int | None = None
    log_level: _RuntimeLogLevel | None = None

    def flags(self) -> tuple[str, ...]:
        """Return the compiler flags."""
        typed = {
            "--logical-nc-config": self.logical_nc_config,
            "--model-type": self.model_type,
            "--auto-cast": self.auto_cast,
            "--auto-cast-type": self.auto_cast_type,
            "--optlevel": self.optlevel,
            "--distribution-strategy": "llm-training" if self.llm_training else None,
        }
        flags = [f"{name}={value}" for name, value in typed.items() if value is not None]
        if self.mixed_precision_accumulation is not None:
            polarity = "enable" if self.mixed_precision_accumulation else "disable"
            flags.append(f"--{polarity}-mixed-precision-accumulation")
        if self.saturate_infinity:
            flags.append("--enable-saturate-infinity")
        return (*flags, *self.compiler_flags)

    def variables(self) -> dict[str, str]:
        """Return the environment variables of the runtime, without those of the compiler."""
        variables = {
            _LNC: self.logical_nc_config,
            "NEURON_RT_STOCHASTIC_ROUNDING_EN": (
                None if self.stochastic_rounding is None else int(self.stochastic_rounding)
            ),
            "NEURON_RT_STOCHASTIC_ROUNDING_SEED": self.stochastic_rounding_seed,
            "NEURON_RT_EXEC_TIMEOUT": self.exec_timeout_seconds,
            "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": self.async_requests,
            "NEURON_RT_LOG_LEVEL": self.log_level,
        }
        return {name: str(value) for name, value in variables.items() if value is not None}

    def processes_per_node(self, machine: InstanceType) -> int:
        """Return the number of logical NeuronCores of a node, which is the default number of processes."""
        if self.logical_nc_config is None:
            return machine.logical_neuron_cores
        return machine.neuron_cores // self.logical_nc_config


def compile_target(machine: InstanceType) -> str:
    """Return the compiler target of an instance type, such as ``trn2``. A NEFF runs on its target only."""
    if machine.name.startswith("trn1n."):
        return "trn1n"
    return _TARGETS.get(machine.accelerator, machine.name.partition(".")[0])
