"""What rollout files are refused for: tests/unit/bad_inputs/rules.yaml. Here is what a file cannot say."""

from typing import Any

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.neuron import Neuron, check_neuron


def codes(settings: Neuron, machine: str = "trn2.48xlarge") -> list[str]:
    return [finding.code for finding in check_neuron(settings, get_instance_type(machine), {})]


def test_nothing_is_set_unless_asked() -> None:
    settings = Neuron()
    assert settings.flags() == ()
    assert settings.variables() == {}
    assert all(codes(settings, name) == [] for name, row in INSTANCE_TYPES.items() if row.is_neuron)


def test_numbers_that_python_gives_have_their_bounds_too() -> None:
    assert [codes(Neuron(optlevel=level)) for level in (0, 1, 3, 4)] == [["UC6011"], [], [], ["UC6011"]]  # type: ignore[arg-type] - the mistake
    assert codes(Neuron(logical_nc_config=3)) == ["UC6011"]  # type: ignore[arg-type] - likewise
    assert codes(Neuron(exec_timeout_seconds=0)) == []


def test_a_word_a_number_and_a_machine_are_refused_at_their_setting() -> None:
    (word,) = check_neuron(Neuron(model_type="cnn"), get_instance_type("trn2.48xlarge"), {})  # type: ignore[arg-type] - the mistake
    assert str(word) == "UC1023: neuron.model_type: got 'cnn'. Allowed: generic, transformer, unet-inference."
    (number,) = check_neuron(Neuron(async_requests=-1), get_instance_type("trn2.48xlarge"), {})
    assert str(number) == "UC6011: neuron.async_requests: got -1. Allowed: 0 to 2,147,483,647."
    (machine,) = check_neuron(Neuron(optlevel=1), get_instance_type("p5.48xlarge"), {})
    assert str(machine) == "UC6011: neuron: p5.48xlarge has no NeuronCores. Leave the settings out."


def test_all_errors_are_reported_at_once() -> None:
    settings: Any = {"optlevel": 9, "auto_cast_type": "bf16", "async_requests": -2}
    assert codes(Neuron(**settings)) == ["UC6011", "UC6011", "UC6012"]
