from typing import Any

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.compile_machines import compile_target
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.neuron import Neuron

TRN1 = get_instance_type("trn1.32xlarge")


TRN2 = get_instance_type("trn2.48xlarge")


def test_every_setting_becomes_the_flag_or_variable_of_the_documentation() -> None:
    settings = Neuron(
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


def test_false_is_a_setting_and_not_the_lack_of_one() -> None:
    settings = Neuron(stochastic_rounding=False, mixed_precision_accumulation=True, async_requests=0)
    assert settings.variables() == {
        "NEURON_RT_STOCHASTIC_ROUNDING_EN": "0",
        "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "0",
    }
    assert settings.flags() == ("--enable-mixed-precision-accumulation",)


# Neuron documentation, Logical NeuronCore configuration: 64 and 128 on a trn2.48xlarge.
@pytest.mark.parametrize(("configuration", "cores"), [(None, 64), (2, 64), (1, 128)])
def test_processes_follow_the_logical_cores(configuration: Any, cores: int) -> None:
    assert Neuron(logical_nc_config=configuration).processes_per_node(TRN2) == cores


def test_a_type_before_trainium2_has_as_many_processes_as_cores() -> None:
    assert Neuron().processes_per_node(TRN1) == 32


def test_compiles_for_a_family_that_the_compiler_names() -> None:
    # neuronx-cc compile --target, Neuron Compiler CLI Reference Guide.
    targets = {name: compile_target(row) for name, row in INSTANCE_TYPES.items() if row.is_neuron}
    assert set(targets.values()) == {"inf2", "trn1", "trn1n", "trn2"}
    assert all(name.startswith(target) for name, target in targets.items())
    assert targets["trn2u.48xlarge"] == "trn2"
