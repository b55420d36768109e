"""What an instance type tells of its chips, devices and network cards."""

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
