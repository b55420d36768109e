"""Settings of the Neuron compiler and runtime for a job: what is allowed, and which variables and flags they become.

Sources, Neuron documentation: Neuron Compiler CLI Reference Guide and Neuron Runtime configuration of SDK 2.32 (page
sources of 2026-08-21), Logical NeuronCore configuration, JAX and PyTorch NeuronX environment variables (the same day),
and the announcement of 2026-06-28 on implicit asynchronous execution.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.compiler_flags import CompilerFlag, split_compiler_flags
from ultracluster_catalog.neuron.neuron import CACHE_BYPASS_FLAG, CACHE_URL_FLAG, XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_rules.findings import Finding, quote
from ultracluster_rules.plain_numbers import refuse_other_numbers

__all__ = [
    "ASYNC_REQUESTS_THAT_FIT",
    "NeuronSettings",
    "compile_target",
]

_ModelType = Literal["generic", "transformer", "unet-inference"]
_AutoCast = Literal["none", "matmult", "all"]
_AutoCastType = Literal["bf16", "fp16", "tf32", "fp8_e4m3"]
_RuntimeLogLevel = Literal["ERROR", "WARNING", "INFO", "DEBUG", "TRACE"]
ASYNC_REQUESTS_THAT_FIT: Final = 3
"""The queue depth that the documentation recommends; a deeper one may exhaust device memory."""

_LNC: Final = "NEURON_LOGICAL_NC_CONFIG"
_MOST_INT: Final = 2**31 - 1
_LEVELS: Final = (1, 2, 3)

# The families that neuronx-cc names in --target.
_TARGETS: Final[Mapping[str, str]] = {"Trainium": "trn1", "Trainium2": "trn2", "Inferentia2": "inf2"}


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronSettings:
    """What a job asks of the Neuron compiler and runtime. Whatever is left out keeps Neuron's own default.

    Attributes:
        logical_nc_config: Physical NeuronCores in a logical one, 1 or 2, told to compiler and runtime alike; Trainium2
            only. Decides how many processes a node has. Default: 2 on Trainium2.
        model_type: Kind of model that the compiler optimizes for. Default: generic.
        auto_cast: Which FP32 operations are cast to a lower precision. Default: none.
        auto_cast_type: What they are cast to; only with auto_cast. Default: bf16.
        optlevel: Optimization level, 1 to 3; 1 compiles fastest. Default: 2.
        llm_training: Whether the compiler optimizes for large language models whose parameters, gradients and
            optimizer states are sharded over data-parallel workers. Default: no.
        mixed_precision_accumulation: Whether sums are kept in FP32. Default: yes.
        saturate_infinity: Whether infinities become the largest finite numbers in transposes, which Trainium may
            need; no effect on Trainium2. Default: no.
        compiler_flags: Further flags, one each, such as ``--verbose=info``. Default: none.
        stochastic_rounding: Whether FP32 is rounded at random to lower precisions. Default: left to the framework.
        stochastic_rounding_seed: Its seed, 0 to 2,147,483,647. Default: 0.
        exec_timeout_seconds: How long one execution may take on a NeuronCore before the runtime fails it. A timeout
            also ends a run in which another node is slow. Default: 30 seconds.
        async_requests: Executions that the runtime queues, 0 for none. Read by SDKs before 2.31 only, which is what
            torch-neuronx on Trainium has; later ones ignore it. Default: none.
        log_level: How much the runtime logs. Default: ERROR.
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

    def __post_init__(self) -> None:
        refuse_other_numbers(self)

    def flags(self) -> tuple[str, ...]:
        """Flags of the compiler, one each."""
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
            twin = "enable" if self.mixed_precision_accumulation else "disable"
            flags.append(f"--{twin}-mixed-precision-accumulation")
        if self.saturate_infinity:
            flags.append("--enable-saturate-infinity")
        return (*flags, *self.compiler_flags)

    def variables(self) -> dict[str, str]:
        """Environment variables of the runtime; the compiler's are not among them."""
        given = {
            _LNC: self.logical_nc_config,
            "NEURON_RT_STOCHASTIC_ROUNDING_EN": (
                None if self.stochastic_rounding is None else int(self.stochastic_rounding)
            ),
            "NEURON_RT_STOCHASTIC_ROUNDING_SEED": self.stochastic_rounding_seed,
            "NEURON_RT_EXEC_TIMEOUT": self.exec_timeout_seconds,
            "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": self.async_requests,
            "NEURON_RT_LOG_LEVEL": self.log_level,
        }
        return {name: str(value) for name, value in given.items() if value is not None}

    def processes_per_node(self, machine: InstanceType) -> int:
        """NeuronCores that software sees on a node, which is how many processes it has unless told otherwise.

        Args:
            machine: Type of the node.
        """
        if self.logical_nc_config is None:
            return machine.logical_neuron_cores
        return machine.neuron_cores // self.logical_nc_config

    def check(self, machine: InstanceType, environment: Mapping[str, str]) -> list[Finding]:
        """Find what the compiler or the runtime would refuse, or would settle by taking the last one given.

        Args:
            machine: Type of the nodes.
            environment: Variables that the job is given beside these settings.

        Returns:
            Errors (UC6011, UC6012) and a warning about a queue that is too deep (UC6013).
        """
        return [*self._wrong_values(machine), *self._contradictions(environment), *self._doubts()]

    def _wrong_values(self, machine: InstanceType) -> Iterator[Finding]:
        if not machine.is_neuron:
            problem = f"{machine.name} has no NeuronCores"
            yield Finding(code="UC6011", problem=problem, remedy="Leave the settings out", path="neuron")
        elif self.logical_nc_config is not None and machine.logical_neuron_cores == machine.neuron_cores:
            problem = f"{machine.name} has no logical NeuronCores: they came with Trainium2"
            yield _wrong("logical_nc_config", problem, remedy="Leave it out")
        choices: dict[str, tuple[object, ...]] = {
            "logical_nc_config": (1, 2),
            "model_type": get_args(_ModelType),
            "auto_cast": get_args(_AutoCast),
            "auto_cast_type": get_args(_AutoCastType),
            "optlevel": _LEVELS,
            "log_level": get_args(_RuntimeLogLevel),
        }
        for name, allowed in choices.items():
            got = getattr(self, name)
            if got is not None and got not in allowed:
                yield _wrong(name, f"got {quote(got)}", allowed=", ".join(str(one) for one in allowed))
        for name in ("stochastic_rounding_seed", "exec_timeout_seconds", "async_requests"):
            got = getattr(self, name)
            if got is not None and not 0 <= got <= _MOST_INT:
                yield _wrong(name, f"got {quote(got)}", allowed=f"0 to {_MOST_INT:,}")

    def _contradictions(self, environment: Mapping[str, str]) -> Iterator[Finding]:
        if self.auto_cast_type is not None and self.auto_cast in {None, "none"}:
            problem = f"got {quote(self.auto_cast_type)}, but nothing is cast"
            yield _contradiction(
                "auto_cast_type", problem, "Set auto_cast to matmult or all, or leave this out"
            )
        if self.stochastic_rounding_seed is not None and self.stochastic_rounding is False:
            problem = "got a seed, but stochastic rounding is off"
            yield _contradiction("stochastic_rounding_seed", problem, "Leave one of them out")
        typed = replace(self, compiler_flags=()).flags()
        known = {flag.name: flag for text in typed for flag in split_compiler_flags(text)}
        for flag in (flag for text in self.compiler_flags for flag in split_compiler_flags(text)):
            other = known.setdefault(flag.name, flag)
            if flag.name in {CACHE_URL_FLAG, CACHE_BYPASS_FLAG}:
                problem = f"got {quote(flag.text)}, and the job's compile cache is a setting of its own"
                yield _contradiction("compiler_flags", problem, "Leave it out")
            elif flag.value != other.value:
                yield _contradiction("compiler_flags", _last_wins(flag, other))
        for flag in split_compiler_flags(environment.get(XLA_COMPILER_FLAGS_VARIABLE, "")):
            other = known.get(flag.name, flag)
            if flag.value != other.value:
                yield _contradiction(f"environment.{XLA_COMPILER_FLAGS_VARIABLE}", _last_wins(flag, other))
        for name, value in self.variables().items():
            if environment.get(name, value) != value:
                problem = f"got {quote(environment[name])}, but the Neuron settings say {value}"
                yield _contradiction(f"environment.{name}", problem)

    def _doubts(self) -> Iterator[Finding]:
        if self.async_requests is not None and ASYNC_REQUESTS_THAT_FIT < self.async_requests <= _MOST_INT:
            yield Finding(
                code="UC6013",
                problem=f"got {self.async_requests}, which may exhaust device memory",
                allowed=f"0 to {ASYNC_REQUESTS_THAT_FIT}",
                path="neuron.async_requests",
            )


def _wrong(name: str, problem: str, *, allowed: str = "", remedy: str = "") -> Finding:
    return Finding(code="UC6011", problem=problem, allowed=allowed, remedy=remedy, path=f"neuron.{name}")


def _contradiction(place: str, problem: str, remedy: str = "Leave one of them out") -> Finding:
    path = place if place.startswith("environment") else f"neuron.{place}"
    return Finding(code="UC6012", problem=problem, remedy=remedy, path=path)


def _last_wins(flag: CompilerFlag, other: CompilerFlag) -> str:
    return f"got {quote(flag.text)} beside {quote(other.text)}, and the last one would win"


def compile_target(machine: InstanceType) -> str:
    """Give the family that the compiler compiles for, such as ``trn2``; a NEFF runs on its own family.

    Args:
        machine: A type with NeuronCores.
    """
    if machine.name.startswith("trn1n."):
        return "trn1n"
    return _TARGETS.get(machine.accelerator, machine.name.partition(".")[0])
