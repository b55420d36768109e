"""Rules for jobs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.compiler_flags import CompilerFlag, split_compiler_flags
from ultracluster_catalog.neuron.neuron import CACHE_BYPASS_FLAG, CACHE_URL_FLAG, XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_catalog.neuron.neuron_settings import (
    ASYNC_REQUESTS_THAT_FIT,
    LARGEST_NEURON_INTEGER,
    NEURON_CHOICES,
    NeuronSettings,
)
from ultracluster_rules.findings import Finding, quote
from ultracluster_rules.numbers import find_unsafe_numbers
from ultracluster_rules.values import Between

NEURON_INTEGER: Final = Between(code="UC6011", least=0, most=LARGEST_NEURON_INTEGER)
"""An integer of the Neuron runtime."""


def check_neuron_settings(
    settings: NeuronSettings, machine: InstanceType, environment: Mapping[str, str]
) -> list[Finding]:
    """Check Neuron settings for values that compiler or runtime would reject, and for contradictions.

    Where flags contradict each other, the compiler silently uses the last one.

    Returns:
        UC1030 for unsafe numbers, or else errors (UC6011, UC6012) and a warning about a deep queue (UC6013).
    """
    if unsafe := find_unsafe_numbers(settings):
        return unsafe
    return [
        *_check_values(settings, machine),
        *_check_contradictions(settings, environment),
        *_check_queue_depth(settings),
    ]


def _check_values(settings: NeuronSettings, machine: InstanceType) -> Iterator[Finding]:
    if not machine.is_neuron:
        problem = f"{machine.name} has no NeuronCores"
        yield Finding(NEURON_INTEGER.code, problem, remedy="Leave the settings out", path="neuron")
    elif settings.logical_nc_config is not None and machine.logical_neuron_cores == machine.neuron_cores:
        problem = f"{machine.name} has no logical NeuronCores: they were introduced with Trainium2"
        yield _wrong("logical_nc_config", problem, remedy="Leave it out")
    for name, allowed in NEURON_CHOICES.items():
        value = getattr(settings, name)
        if value is not None and value not in allowed:
            yield _wrong(name, f"got {quote(value)}", allowed=", ".join(map(str, allowed)))
    for name in ("stochastic_rounding_seed", "exec_timeout_seconds", "async_requests"):
        value = getattr(settings, name)
        if value is not None and not 0 <= value <= LARGEST_NEURON_INTEGER:
            yield _wrong(name, f"got {quote(value)}", allowed=f"0 to {LARGEST_NEURON_INTEGER:,}")


def _check_contradictions(settings: NeuronSettings, environment: Mapping[str, str]) -> Iterator[Finding]:
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


def _check_queue_depth(settings: NeuronSettings) -> Iterator[Finding]:
    if (
        settings.async_requests is not None
        and ASYNC_REQUESTS_THAT_FIT < settings.async_requests <= LARGEST_NEURON_INTEGER
    ):
        yield Finding(
            "UC6013",
            f"got {settings.async_requests}, which may exhaust device memory",
            allowed=f"0 to {ASYNC_REQUESTS_THAT_FIT}",
            path="neuron.async_requests",
        )


def _wrong(name: str, problem: str, *, allowed: str = "", remedy: str = "") -> Finding:
    path = f"neuron.{name}"
    return Finding(NEURON_INTEGER.code, problem, allowed=allowed, remedy=remedy, path=path)


def _contradiction(place: str, problem: str, remedy: str = "Leave one of them out") -> Finding:
    path = place if place.startswith("environment") else f"neuron.{place}"
    return Finding("UC6012", problem, remedy=remedy, path=path)


def _last_wins(flag: CompilerFlag, other: CompilerFlag) -> str:
    return f"got {quote(flag.text)} beside {quote(other.text)}, and the last one would win"
