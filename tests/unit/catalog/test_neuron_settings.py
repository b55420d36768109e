from typing import Any

import pytest

from ultracluster_catalog.instance_types import INSTANCE_TYPES, get_instance_type
from ultracluster_catalog.neuron_settings import NeuronSettings, compile_target

TRN1 = get_instance_type("trn1.32xlarge")
TRN2 = get_instance_type("trn2.48xlarge")


def codes(settings: NeuronSettings, machine: str = "trn2.48xlarge", **environment: str) -> list[str]:
    return [finding.code for finding in settings.check(get_instance_type(machine), environment)]


def test_nothing_is_set_unless_asked() -> None:
    settings = NeuronSettings()
    assert settings.flags() == ()
    assert settings.variables() == {}
    assert all(codes(settings, name) == [] for name, row in INSTANCE_TYPES.items() if row.is_neuron)


def test_every_setting_becomes_the_flag_or_variable_of_the_documentation() -> None:
    settings = NeuronSettings(
        logical_nc_config=1,
        model_type="transformer",
        auto_cast="matmult",
        auto_cast_type="tf32",
        optlevel=1,
        llm_training=True,
        mixed_precision_accumulation=False,
        saturate_infinity=True,
        compiler_flags=("--verbose=info",),
        stochastic_rounding=True,
        stochastic_rounding_seed=0,
        exec_timeout_seconds=600,
        async_requests=3,
        log_level="INFO",
    )
    assert settings.flags() == (
        "--logical-nc-config=1",
        "--model-type=transformer",
        "--auto-cast=matmult",
        "--auto-cast-type=tf32",
        "--optlevel=1",
        "--distribution-strategy=llm-training",
        "--disable-mixed-precision-accumulation",
        "--enable-saturate-infinity",
        "--verbose=info",
    )
    assert settings.variables() == {
        "NEURON_LOGICAL_NC_CONFIG": "1",
        "NEURON_RT_STOCHASTIC_ROUNDING_EN": "1",
        "NEURON_RT_STOCHASTIC_ROUNDING_SEED": "0",
        "NEURON_RT_EXEC_TIMEOUT": "600",
        "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "3",
        "NEURON_RT_LOG_LEVEL": "INFO",
    }
    assert codes(settings) == []


def test_false_is_a_setting_and_not_the_lack_of_one() -> None:
    settings = NeuronSettings(stochastic_rounding=False, mixed_precision_accumulation=True, async_requests=0)
    assert settings.variables() == {
        "NEURON_RT_STOCHASTIC_ROUNDING_EN": "0",
        "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "0",
    }
    assert settings.flags() == ("--enable-mixed-precision-accumulation",)


# Neuron documentation, Logical NeuronCore configuration: 64 and 128 on a trn2.48xlarge.
@pytest.mark.parametrize(("configuration", "cores"), [(None, 64), (2, 64), (1, 128)])
def test_processes_follow_the_logical_cores(configuration: Any, cores: int) -> None:
    assert NeuronSettings(logical_nc_config=configuration).processes_per_node(TRN2) == cores


def test_a_type_before_trainium2_has_as_many_processes_as_cores() -> None:
    assert NeuronSettings().processes_per_node(TRN1) == 32


@pytest.mark.parametrize(
    ("settings", "machine"),
    [
        ({"logical_nc_config": 3}, "trn2.48xlarge"),
        ({"logical_nc_config": 1}, "trn1.32xlarge"),
        ({"logical_nc_config": 2}, "inf2.48xlarge"),
        ({"model_type": "cnn"}, "trn2.48xlarge"),
        ({"auto_cast": "matmul"}, "trn2.48xlarge"),
        ({"auto_cast": "all", "auto_cast_type": "fp8"}, "trn2.48xlarge"),
        ({"optlevel": 0}, "trn2.48xlarge"),
        ({"optlevel": 4}, "trn2.48xlarge"),
        ({"log_level": "LOUD"}, "trn2.48xlarge"),
        ({"exec_timeout_seconds": -1}, "trn2.48xlarge"),
        ({"exec_timeout_seconds": 2**31}, "trn2.48xlarge"),
        ({"stochastic_rounding_seed": -1}, "trn2.48xlarge"),
        ({"async_requests": -1}, "trn2.48xlarge"),
        ({}, "p5.48xlarge"),
    ],
)
def test_refuses_what_compiler_and_runtime_do_not_have(settings: dict[str, Any], machine: str) -> None:
    assert codes(NeuronSettings(**settings), machine) == ["UC6011"]


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
    assert codes(NeuronSettings(**settings)) == []


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        ({"auto_cast_type": "bf16"}, {}),
        ({"auto_cast": "none", "auto_cast_type": "bf16"}, {}),
        ({"stochastic_rounding": False, "stochastic_rounding_seed": 1}, {}),
        ({"optlevel": 1, "compiler_flags": ("-O2",)}, {}),
        ({"logical_nc_config": 2, "compiler_flags": ("--lnc 1",)}, {}),
        ({"compiler_flags": ("--cache_dir=s3://elsewhere",)}, {}),
        ({"compiler_flags": ("--no_cache",)}, {}),
        ({"compiler_flags": ("-O1", "-O2")}, {}),
        ({"optlevel": 1}, {"NEURON_CC_FLAGS": "--model-type transformer -O2"}),
        (
            {"mixed_precision_accumulation": True},
            {"NEURON_CC_FLAGS": "--disable-mixed-precision-accumulation"},
        ),
        ({"logical_nc_config": 1}, {"NEURON_LOGICAL_NC_CONFIG": "2"}),
        ({"exec_timeout_seconds": 60}, {"NEURON_RT_EXEC_TIMEOUT": "30"}),
    ],
)
def test_refuses_settings_that_contradict_each_other(
    settings: dict[str, Any], environment: dict[str, str]
) -> None:
    assert codes(NeuronSettings(**settings), **environment) == ["UC6012"]


def test_the_same_value_in_two_places_is_no_contradiction() -> None:
    settings = NeuronSettings(optlevel=1, logical_nc_config=2, compiler_flags=("-lnc 2",))
    assert codes(settings, NEURON_CC_FLAGS="-O1", NEURON_LOGICAL_NC_CONFIG="2") == []


def test_what_the_environment_alone_repeats_is_not_ours_to_judge() -> None:
    assert codes(NeuronSettings(), NEURON_CC_FLAGS="--dump=a --dump=b") == []


def test_warns_of_a_queue_that_device_memory_may_not_hold() -> None:
    assert codes(NeuronSettings(async_requests=4)) == ["UC6013"]
    assert codes(NeuronSettings(async_requests=3)) == []


def test_everything_that_is_wrong_is_told_at_once() -> None:
    settings: Any = {"optlevel": 9, "auto_cast_type": "int4", "async_requests": -2}
    assert codes(NeuronSettings(**settings)) == ["UC6011", "UC6011", "UC6011", "UC6012"]


def test_compiles_for_a_family_that_the_compiler_names() -> None:
    # neuronx-cc compile --target, Neuron Compiler CLI Reference Guide.
    targets = {name: compile_target(row) for name, row in INSTANCE_TYPES.items() if row.is_neuron}
    assert set(targets.values()) == {"inf2", "trn1", "trn1n", "trn2"}
    assert all(name.startswith(target) for name, target in targets.items())
    assert targets["trn2u.48xlarge"] == "trn2"
