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


NUMBER = "0 to 2,147,483,647"


@pytest.mark.parametrize(
    ("name", "values", "code", "allowed"),
    [
        ("logical_nc_config", [3], "UC6011", "1, 2"),
        ("model_type", ["cnn"], "UC1023", "generic, transformer, unet-inference"),
        ("auto_cast", ["matmul"], "UC1023", "none, matmult, all"),
        ("optlevel", [0, 4], "UC6011", "1, 2, 3"),
        ("log_level", ["LOUD"], "UC1023", "ERROR, WARNING, INFO, DEBUG, TRACE"),
        ("exec_timeout_seconds", [-1, 2**31], "UC6011", NUMBER),
        ("stochastic_rounding_seed", [-1], "UC6011", NUMBER),
        ("async_requests", [-1], "UC6011", NUMBER),
    ],
)
def test_refuses_what_compiler_and_runtime_do_not_have(
    name: str, values: list[Any], code: str, allowed: str
) -> None:
    for value in values:
        (found,) = check_neuron(Neuron(**{name: value}), TRN2, {})
        assert str(found) == f"{code}: neuron.{name}: got {value!r}. Allowed: {allowed}."


def test_refuses_a_type_that_nothing_is_cast_to() -> None:
    (found,) = check_neuron(Neuron(auto_cast="all", auto_cast_type="fp8"), TRN2, {})  # type: ignore[arg-type] - the mistake
    assert str(found) == ("UC1023: neuron.auto_cast_type: got 'fp8'. Allowed: bf16, fp16, tf32, fp8_e4m3.")


@pytest.mark.parametrize(
    ("machine", "setting", "said"),
    [
        (
            "trn1.32xlarge",
            "logical_nc_config",
            ".logical_nc_config: trn1.32xlarge has no logical NeuronCores: ",
        ),
        (
            "inf2.48xlarge",
            "logical_nc_config",
            ".logical_nc_config: inf2.48xlarge has no logical NeuronCores: ",
        ),
        ("p5.48xlarge", "optlevel", ": p5.48xlarge has no NeuronCores. Leave the settings out."),
    ],
)
def test_refuses_what_a_machine_does_not_have(machine: str, setting: str, said: str) -> None:
    (found,) = check_neuron(Neuron(**{setting: 1}), get_instance_type(machine), {})
    assert str(found).startswith(f"UC6011: neuron{said}")


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


ONE_WINS = "and the last one would win. Leave one of them out."
NOTHING_IS_CAST = "got 'bf16', but nothing is cast. Set auto_cast to matmult or all, or leave this out."
OWN_CACHE = "but the job has a separate setting for its compile cache. Leave it out."
FLAGS, CAST = "neuron.compiler_flags", "neuron.auto_cast_type"
CACHE_DIR, MIXED = "--cache_dir=s3://elsewhere", "mixed-precision-accumulation"


@pytest.mark.parametrize(
    ("settings", "place", "said"),
    [
        ({"auto_cast_type": "bf16"}, CAST, NOTHING_IS_CAST),
        ({"auto_cast": "none", "auto_cast_type": "bf16"}, CAST, NOTHING_IS_CAST),
        (
            {"stochastic_rounding": False, "stochastic_rounding_seed": 1},
            "neuron.stochastic_rounding_seed",
            "got a seed, but stochastic rounding is off. Leave one of them out.",
        ),
        ({"optlevel": 1, "compiler_flags": ("-O2",)}, FLAGS, f"got '-O2' beside '--optlevel=1', {ONE_WINS}"),
        (
            {"logical_nc_config": 2, "compiler_flags": ("--lnc 1",)},
            FLAGS,
            f"got '--lnc 1' beside '--logical-nc-config=2', {ONE_WINS}",
        ),
        ({"compiler_flags": (CACHE_DIR,)}, FLAGS, f"got '{CACHE_DIR}', {OWN_CACHE}"),
        ({"compiler_flags": ("--no_cache",)}, FLAGS, f"got '--no_cache', {OWN_CACHE}"),
        ({"compiler_flags": ("-O1", "-O2")}, FLAGS, f"got '-O2' beside '-O1', {ONE_WINS}"),
    ],
)
def test_refuses_settings_that_contradict_each_other(settings: dict[str, Any], place: str, said: str) -> None:
    assert [str(each) for each in check_neuron(Neuron(**settings), TRN2, {})] == [f"UC6012: {place}: {said}"]


@pytest.mark.parametrize(
    ("settings", "name", "value", "said"),
    [
        (
            {"optlevel": 1},
            "NEURON_CC_FLAGS",
            "--model-type transformer -O2",
            f"got '-O2' beside '--optlevel=1', {ONE_WINS}",
        ),
        (
            {"mixed_precision_accumulation": True},
            "NEURON_CC_FLAGS",
            f"--disable-{MIXED}",
            f"got '--disable-{MIXED}' beside '--enable-{MIXED}', {ONE_WINS}",
        ),
        (
            {"logical_nc_config": 1},
            "NEURON_LOGICAL_NC_CONFIG",
            "2",
            "got '2', but the Neuron settings set it to 1. Leave one of them out.",
        ),
        (
            {"exec_timeout_seconds": 60},
            "NEURON_RT_EXEC_TIMEOUT",
            "30",
            "got '30', but the Neuron settings set it to 60. Leave one of them out.",
        ),
    ],
)
def test_refuses_a_variable_that_contradicts_the_settings(
    settings: dict[str, Any], name: str, value: str, said: str
) -> None:
    (found,) = check_neuron(Neuron(**settings), TRN2, {name: value})
    assert str(found) == f"UC6012: environment.{name}: {said}"


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
