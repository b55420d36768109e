from typing import Any

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.neuron import Neuron, check_neuron

TRN2 = get_instance_type("trn2.48xlarge")


def codes(settings: Neuron, machine: str = "trn2.48xlarge", **environment: str) -> list[str]:
    return [finding.code for finding in check_neuron(settings, get_instance_type(machine), environment)]


def test_nothing_is_set_unless_asked() -> None:
    settings = Neuron()
    assert settings.flags() == ()
    assert settings.variables() == {}
    assert all(codes(settings, name) == [] for name, row in INSTANCE_TYPES.items() if row.is_neuron)


@pytest.mark.parametrize(
    ("settings", "machine", "line"),
    [
        (
            {"logical_nc_config": 3},
            "trn2.48xlarge",
            "UC6011: neuron.logical_nc_config: got 3. Allowed: 1, 2.",
        ),
        (
            {"logical_nc_config": 1},
            "trn1.32xlarge",
            "UC6011: neuron.logical_nc_config: trn1.32xlarge has no logical NeuronCores: they were introduced with Trainium2. Leave it out.",
        ),
        (
            {"logical_nc_config": 2},
            "inf2.48xlarge",
            "UC6011: neuron.logical_nc_config: inf2.48xlarge has no logical NeuronCores: they were introduced with Trainium2. Leave it out.",
        ),
        (
            {"model_type": "cnn"},
            "trn2.48xlarge",
            "UC1023: neuron.model_type: got 'cnn'. Allowed: generic, transformer, unet-inference.",
        ),
        (
            {"auto_cast": "matmul"},
            "trn2.48xlarge",
            "UC1023: neuron.auto_cast: got 'matmul'. Allowed: none, matmult, all.",
        ),
        (
            {"auto_cast": "all", "auto_cast_type": "fp8"},
            "trn2.48xlarge",
            "UC1023: neuron.auto_cast_type: got 'fp8'. Allowed: bf16, fp16, tf32, fp8_e4m3.",
        ),
        ({"optlevel": 0}, "trn2.48xlarge", "UC6011: neuron.optlevel: got 0. Allowed: 1, 2, 3."),
        ({"optlevel": 4}, "trn2.48xlarge", "UC6011: neuron.optlevel: got 4. Allowed: 1, 2, 3."),
        (
            {"log_level": "LOUD"},
            "trn2.48xlarge",
            "UC1023: neuron.log_level: got 'LOUD'. Allowed: ERROR, WARNING, INFO, DEBUG, TRACE.",
        ),
        (
            {"exec_timeout_seconds": -1},
            "trn2.48xlarge",
            "UC6011: neuron.exec_timeout_seconds: got -1. Allowed: 0 to 2,147,483,647.",
        ),
        (
            {"exec_timeout_seconds": 2**31},
            "trn2.48xlarge",
            "UC6011: neuron.exec_timeout_seconds: got 2147483648. Allowed: 0 to 2,147,483,647.",
        ),
        (
            {"stochastic_rounding_seed": -1},
            "trn2.48xlarge",
            "UC6011: neuron.stochastic_rounding_seed: got -1. Allowed: 0 to 2,147,483,647.",
        ),
        (
            {"async_requests": -1},
            "trn2.48xlarge",
            "UC6011: neuron.async_requests: got -1. Allowed: 0 to 2,147,483,647.",
        ),
        (
            {"optlevel": 1},
            "p5.48xlarge",
            "UC6011: neuron: p5.48xlarge has no NeuronCores. Leave the settings out.",
        ),
    ],
)
def test_refuses_what_compiler_and_runtime_do_not_have(
    settings: dict[str, Any], machine: str, line: str
) -> None:
    assert [str(finding) for finding in check_neuron(Neuron(**settings), get_instance_type(machine), {})] == [
        line
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"exec_timeout_seconds": 0},
        {"exec_timeout_seconds": 2**31 - 1},
        {"optlevel": 3},
        {"logical_nc_config": 2},
        {"auto_cast": "all", "auto_cast_type": "fp8_e4m3"},
        {"auto_cast": "none"},
        {"stochastic_rounding_seed": 5},
        {"async_requests": 3},
        {"compiler_flags": ("--tensorizer-options='--a'", "--verbose=info")},
    ],
)
def test_takes_what_is_just_allowed(settings: dict[str, Any]) -> None:
    assert codes(Neuron(**settings)) == []


@pytest.mark.parametrize(
    ("settings", "environment", "line"),
    [
        (
            {"auto_cast_type": "bf16"},
            {},
            "UC6012: neuron.auto_cast_type: got 'bf16', but nothing is cast. Set auto_cast to matmult or all, or leave this out.",
        ),
        (
            {"auto_cast": "none", "auto_cast_type": "bf16"},
            {},
            "UC6012: neuron.auto_cast_type: got 'bf16', but nothing is cast. Set auto_cast to matmult or all, or leave this out.",
        ),
        (
            {"stochastic_rounding": False, "stochastic_rounding_seed": 1},
            {},
            "UC6012: neuron.stochastic_rounding_seed: got a seed, but stochastic rounding is off. Leave one of them out.",
        ),
        (
            {"optlevel": 1, "compiler_flags": ("-O2",)},
            {},
            "UC6012: neuron.compiler_flags: got '-O2' beside '--optlevel=1', and the last one would win. Leave one of them out.",
        ),
        (
            {"logical_nc_config": 2, "compiler_flags": ("--lnc 1",)},
            {},
            "UC6012: neuron.compiler_flags: got '--lnc 1' beside '--logical-nc-config=2', and the last one would win. Leave one of them out.",
        ),
        (
            {"compiler_flags": ("--cache_dir=s3://elsewhere",)},
            {},
            "UC6012: neuron.compiler_flags: got '--cache_dir=s3://elsewhere', but the job has a separate setting for its compile cache. Leave it out.",
        ),
        (
            {"compiler_flags": ("--no_cache",)},
            {},
            "UC6012: neuron.compiler_flags: got '--no_cache', but the job has a separate setting for its compile cache. Leave it out.",
        ),
        (
            {"compiler_flags": ("-O1", "-O2")},
            {},
            "UC6012: neuron.compiler_flags: got '-O2' beside '-O1', and the last one would win. Leave one of them out.",
        ),
        (
            {"optlevel": 1},
            {"NEURON_CC_FLAGS": "--model-type transformer -O2"},
            "UC6012: environment.NEURON_CC_FLAGS: got '-O2' beside '--optlevel=1', and the last one would win. Leave one of them out.",
        ),
        (
            {"mixed_precision_accumulation": True},
            {"NEURON_CC_FLAGS": "--disable-mixed-precision-accumulation"},
            "UC6012: environment.NEURON_CC_FLAGS: got '--disable-mixed-precision-accumulation' beside '--enable-mixed-precision-accumulation', and the last one would win. Leave one of them out.",
        ),
        (
            {"logical_nc_config": 1},
            {"NEURON_LOGICAL_NC_CONFIG": "2"},
            "UC6012: environment.NEURON_LOGICAL_NC_CONFIG: got '2', but the Neuron settings set it to 1. Leave one of them out.",
        ),
        (
            {"exec_timeout_seconds": 60},
            {"NEURON_RT_EXEC_TIMEOUT": "30"},
            "UC6012: environment.NEURON_RT_EXEC_TIMEOUT: got '30', but the Neuron settings set it to 60. Leave one of them out.",
        ),
    ],
)
def test_refuses_settings_that_contradict_each_other(
    settings: dict[str, Any], environment: dict[str, str], line: str
) -> None:
    assert [str(finding) for finding in check_neuron(Neuron(**settings), TRN2, environment)] == [line]


def test_the_same_value_in_two_places_is_not_a_contradiction() -> None:
    settings = Neuron(optlevel=1, logical_nc_config=2, compiler_flags=("-lnc 2",))
    assert codes(settings, NEURON_CC_FLAGS="-O1", NEURON_LOGICAL_NC_CONFIG="2") == []


def test_what_the_environment_alone_repeats_is_not_ours_to_judge() -> None:
    assert codes(Neuron(), NEURON_CC_FLAGS="--dump=a --dump=b") == []


def test_warns_of_a_queue_that_device_memory_may_not_hold() -> None:
    (warning,) = check_neuron(Neuron(async_requests=4), TRN2, {})
    assert str(warning) == (
        "UC6013: neuron.async_requests: got 4, which may exhaust device memory. Allowed: 0 to 3."
    )
    assert codes(Neuron(async_requests=3)) == []


def test_all_errors_are_reported_at_once() -> None:
    settings: Any = {"optlevel": 9, "auto_cast_type": "bf16", "async_requests": -2}
    assert codes(Neuron(**settings)) == ["UC6011", "UC6011", "UC6012"]
