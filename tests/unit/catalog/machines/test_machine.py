"""Facts of a machine are written as short texts and read as values."""

from ultracluster_catalog.machines.instance_type import ON_DEMAND, network_cards
from ultracluster_catalog.machines.machine import describe_machine, peak_tflops


def test_zones_and_regions_of_a_text_are_separate_names() -> None:
    machine = describe_machine(
        "trn9.48xlarge",
        vcpus=192,
        memory_gib=2048,
        accelerator="Trainium9",
        chips=16,
        device_memory_gib=96,
        cards=network_cards(1, max_interfaces=2, gbps=200),
        ipv4_per_interface=50,
        purchase_options=(ON_DEMAND,),
        nitro_generation=5,
        zone_ids=" use2-az1  use2-az3 ",
        block_regions="us-east-1 us-east-2",
    )

    assert machine.zone_ids == ("use2-az1", "use2-az3")
    assert (machine.block_regions, machine.block_regions_seen) == (("us-east-1", "us-east-2"), ())
    assert machine.instance_type.name == "trn9.48xlarge"


def test_both_precisions_of_16_bits_have_one_peak() -> None:
    peak = peak_tflops(1299, 667, 181, tf32=667, source="a page").by_precision

    assert (peak["bf16"], peak["fp16"]) == (667, 667)
    assert (peak["fp8"], peak["fp32"]) == (1299, 181)
    assert peak["tf32"] == 667
    assert len(peak) == 5
