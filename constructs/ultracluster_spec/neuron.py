"""Settings of the Neuron compiler and runtime of a job, and the flags and environment variables that they become.

Sources, Neuron documentation: Neuron Compiler CLI Reference Guide and Neuron Runtime configuration of SDK 2.32 (page
sources of 2026-08-21), Logical NeuronCore configuration, JAX and PyTorch NeuronX environment variables (the same day),
and the announcement of 2026-06-28 on implicit asynchronous execution.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.compiler_flags import CompilerFlag, split_compiler_flags
from ultracluster_catalog.neuron.neuron import CACHE_BYPASS_FLAG, CACHE_URL_FLAG, XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_spec.bounds import Between
from ultracluster_spec.findings import Finding, Severity, quote
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.values import Value, annotations, broken_bounds, under, wrong_types

# The largest that the runtime takes as a seed, a timeout or a queue depth.
_INTEGER: Final = Between(code="UC6011", least=0, most=2**31 - 1)
_Integer = Annotated[int, _INTEGER]

# The queue depth that the documentation recommends; a deeper one may exhaust device memory.
_ASYNC_REQUESTS_THAT_FIT: Final = 3

LOGICAL_CORES_VARIABLE: Final = "NEURON_LOGICAL_NC_CONFIG"
"""Variable with the number of physical cores in a logical one."""

_FIELDS: Final = {
    LOGICAL_CORES_VARIABLE: "logical_nc_config",
    "NEURON_RT_STOCHASTIC_ROUNDING_EN": "stochastic_rounding",
    "NEURON_RT_STOCHASTIC_ROUNDING_SEED": "stochastic_rounding_seed",
    "NEURON_RT_EXEC_TIMEOUT": "exec_timeout_seconds",
    "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "async_requests",
    "NEURON_RT_LOG_LEVEL": "log_level",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Neuron(Value):
    """Settings of the Neuron compiler and runtime of a job. All defaults are Neuron's."""

    logical_nc_config: Literal[1, 2] | None = None
    """Physical NeuronCores per logical NeuronCore; Trainium2 and Trainium3 only. Determines the number of processes per
    node. Default: 2 on both."""

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
    """Whether to replace infinities by the largest finite numbers in transposes, which Trainium may need; no effect on
    Trainium2. Default: no."""

    compiler_flags: tuple[str, ...] = ()
    """More flags of neuronx-cc, one per item, such as --verbose=info. Default: none."""

    stochastic_rounding: bool | None = None
    """Whether to round stochastically to lower precisions. Default: chosen by the framework."""

    stochastic_rounding_seed: _Integer | None = None
    """Seed of stochastic rounding. Default: 0."""

    exec_timeout_seconds: _Integer | None = None
    """Timeout of one execution on a NeuronCore in seconds; it also ends a run in which another node is slow. Default: 600."""

    async_requests: _Integer | None = None
    """Maximum number of queued asynchronous executions, up to 3; ignored since SDK 2.31. Default: 0."""

    log_level: Literal["ERROR", "WARNING", "INFO", "DEBUG", "TRACE"] | None = None
    """Log level of the runtime. Default: ERROR."""

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
        values = {variable: getattr(self, name) for variable, name in _FIELDS.items()}
        return {
            variable: str(int(value) if isinstance(value, bool) else value)
            for variable, value in values.items()
            if value is not None
        }

    def processes_per_node(self, instance_type: InstanceType) -> int:
        """Return the number of logical NeuronCores of a node, which is the default number of processes."""
        if self.logical_nc_config is None:
            return instance_type.logical_neuron_cores
        return instance_type.neuron_cores // self.logical_nc_config


def _choices(annotation: Any) -> tuple[Any, ...]:
    """Return the choices of a field, also of an optional one."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(choice for part in get_args(annotation) for choice in _choices(part))


def check_neuron(
    settings: Neuron, instance_type: InstanceType, environment: Mapping[str, str]
) -> list[Finding]:
    """Check Neuron settings for values that compiler or runtime would reject, and for contradictions.

    Where flags contradict each other, the compiler silently uses the last one.

    Returns:
        UC1023, UC1030 and UC1032 for other words, numbers and types, or else errors (UC6011, UC6012) and a warning about a deep queue (UC6013).
    """
    if wrong := wrong_types(settings):
        return under("neuron", wrong)
    return [
        *_check_values(settings, instance_type),
        *_check_contradictions(settings, environment),
        *_check_queue_depth(settings),
    ]


def _check_values(settings: Neuron, instance_type: InstanceType) -> Iterator[Finding]:
    if not instance_type.is_neuron and settings != Neuron():
        problem = f"{instance_type.name} has no NeuronCores"
        yield Finding(_INTEGER.code, problem, remedy="Leave the settings out", path="neuron")
    elif (
        settings.logical_nc_config is not None
        and instance_type.logical_neuron_cores == instance_type.neuron_cores
    ):
        problem = f"{instance_type.name} has no logical NeuronCores: they were introduced with Trainium2"
        yield _wrong("logical_nc_config", problem, remedy="Leave it out")
    for name, annotation in annotations(Neuron).items():
        value, allowed = getattr(settings, name), _choices(annotation)
        if allowed and value is not None and value not in allowed:
            yield _wrong(name, f"got {quote(value)}", allowed=", ".join(map(str, allowed)))
    yield from under("neuron", broken_bounds(settings))


def _check_contradictions(settings: Neuron, environment: Mapping[str, str]) -> Iterator[Finding]:
    if settings.auto_cast_type is not None and settings.auto_cast in {None, "none"}:
        problem = f"got {quote(settings.auto_cast_type)}, but nothing is cast"
        yield _contradiction("auto_cast_type", problem, "Set auto_cast to matmult or all, or leave this out")
    if settings.stochastic_rounding_seed is not None and settings.stochastic_rounding is False:
        problem = "got a seed, but stochastic rounding is off"
        yield _contradiction("stochastic_rounding_seed", problem, "Leave one of them out")
    typed = replace(settings, compiler_flags=()).flags()
    flags_by_name = {flag.name: flag for text in typed for flag in split_compiler_flags(text)}
    for flag in (flag for text in settings.compiler_flags for flag in split_compiler_flags(text)):
        other = flags_by_name.setdefault(flag.name, flag)
        if flag.name in {CACHE_URL_FLAG, CACHE_BYPASS_FLAG}:
            problem = f"got {quote(flag.text)}, but the job has a separate setting for its compile cache"
            yield _contradiction("compiler_flags", problem, "Leave it out")
        elif flag.value != other.value:
            yield _contradiction("compiler_flags", _last_wins(flag, other))
    for flag in split_compiler_flags(environment.get(XLA_COMPILER_FLAGS_VARIABLE, "")):
        other = flags_by_name.get(flag.name, flag)
        if flag.value != other.value:
            yield _contradiction(f"environment.{XLA_COMPILER_FLAGS_VARIABLE}", _last_wins(flag, other))
    for name, value in settings.variables().items():
        if environment.get(name, value) != value:
            problem = f"got {quote(environment[name])}, but the Neuron settings set it to {value}"
            yield _contradiction(f"environment.{name}", problem)


def _check_queue_depth(settings: Neuron) -> Iterator[Finding]:
    if (
        settings.async_requests is not None
        and _ASYNC_REQUESTS_THAT_FIT < settings.async_requests <= _INTEGER.most
    ):
        yield Finding(
            "UC6013",
            f"got {settings.async_requests}, which may exhaust device memory",
            allowed=f"0 to {_ASYNC_REQUESTS_THAT_FIT}",
            path="neuron.async_requests",
        )


def _wrong(name: str, problem: str, *, allowed: str = "", remedy: str = "") -> Finding:
    path = f"neuron.{name}"
    return Finding(_INTEGER.code, problem, allowed=allowed, remedy=remedy, path=path)


def _contradiction(place: str, problem: str, remedy: str = "Leave one of them out") -> Finding:
    path = place if place.startswith("environment") else f"neuron.{place}"
    return Finding("UC6012", problem, remedy=remedy, path=path)


def _last_wins(flag: CompilerFlag, other: CompilerFlag) -> str:
    return f"got {quote(flag.text)} beside {quote(other.text)}, and the last one would win"


def field_behind(variable: str) -> str | None:
    """Return the Neuron setting that an environment variable comes from, if there is one."""
    return "compiler_flags" if variable == XLA_COMPILER_FLAGS_VARIABLE else _FIELDS.get(variable)


RECORDS: Final = (
    RuleRecord(
        "UC6011",
        "A Neuron setting is one that the compiler and the runtime of the instance type have.",
        remedy="Specify a value that the finding allows; omit the settings on types without NeuronCores, and logical cores on Trainium1.",
        source="Neuron documentation, runtime configuration and compiler reference, 2026-10.",
    ),
    RuleRecord(
        "UC6012",
        "A Neuron setting is set in only one way.",
        remedy="Keep the setting under `neuron` and remove the variable or flag; of two flags, the last one silently takes precedence.",
        source="Neuron documentation, compiler reference, 2026-10.",
    ),
    RuleRecord(
        "UC6013",
        "The queue of the Neuron runtime fits into device memory.",
        severity=Severity.WARNING,
        remedy="Specify 3 or fewer, or suppress this warning if your model leaves room in device memory.",
        source="Neuron documentation, NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS, 2026-10.",
        suppressible=True,
    ),
)
