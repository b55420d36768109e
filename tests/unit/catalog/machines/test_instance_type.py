"""What an instance type tells of its chips, devices and network cards."""

import dataclasses

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_spec.instance_type import get_instance_type


def test_names_the_device_files_of_chips_and_efa() -> None:
    trn1 = get_instance_type("trn1.32xlarge")
    assert trn1.neuron_devices == tuple(f"/dev/neuron{index}" for index in range(16))
    assert trn1.efa_devices == tuple(f"/dev/infiniband/uverbs{index}" for index in range(8))

    gpu = get_instance_type("p5.48xlarge")
    assert gpu.neuron_devices == ()
    assert len(gpu.efa_devices) == 32
    assert not gpu.is_neuron
    assert (gpu.gpus, trn1.gpus) == (8, 0)

    inferentia = get_instance_type("inf2.xlarge")
    assert inferentia.neuron_devices == ("/dev/neuron0",)
    assert inferentia.efa_devices == ()
    assert inferentia.is_neuron


def test_facts_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        INSTANCE_TYPES["trn2.48xlarge"] = INSTANCE_TYPES["trn1.32xlarge"]  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        INSTANCE_TYPES["trn2.48xlarge"].vcpus = 1  # type: ignore[misc]
