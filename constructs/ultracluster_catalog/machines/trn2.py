"""Trn2 and Trn2u: Trainium2."""

from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND, SPOT, network_cards
from ultracluster_catalog.machines.machine import BlockQuota, MachineFamily, describe_machine, peak_tflops

_NOTES: Final = (
    "Device memory: DescribeInstanceTypes says 512 GiB per chip; the Neuron documentation and field measurements "
    "say 96. EC2 lists the usage class on-demand, but no on-demand price is published: plan with a Capacity Block."
)

_trn2 = partial(
    describe_machine,
    accelerator="Trainium2",
    device_memory_gib=96,
    cores_per_chip=8,
    logical_nc_config=2,
    efa_generation=3,
    nitro_generation=5,
)

TRN2: Final = MachineFamily(
    machines=(
        _trn2(
            "trn2.3xlarge",
            vcpus=12,
            memory_gib=128,
            chips=1,
            cards=network_cards(1, max_interfaces=2, gbps=50),
            ipv4_per_interface=15,
            nvme=(1, 470),
            purchase_options=(ON_DEMAND, SPOT, CAPACITY_BLOCK),
            notes=_NOTES
            + " Bandwidth: DescribeInstanceTypes says 50 Gbps for its only network card and 200 for the instance; "
            "the lower figure is used, so that nothing is promised that the card may not hold.",
            zone_ids="aps2-az1 aps2-az2 aps2-az3 apse4-az3 sae1-az1 sae1-az2 sae1-az3",
            block_regions="ap-southeast-4 sa-east-1",
        ),
        _trn2(
            "trn2.48xlarge",
            vcpus=192,
            memory_gib=2048,
            chips=16,
            cards=network_cards(16, max_interfaces=2, gbps=200),
            ipv4_per_interface=50,
            nvme=(4, 1900),
            purchase_options=(ON_DEMAND, SPOT, CAPACITY_BLOCK),
            notes=_NOTES,
            zone_ids="aps2-az1 aps2-az2 aps2-az3 use2-az1 use2-az2 use2-az3",
            block_regions="us-east-2",
            block_regions_seen="ap-south-2",
            sagemaker_training=True,
            training_plans=True,
        ),
        _trn2(
            "trn2u.48xlarge",
            vcpus=192,
            memory_gib=2048,
            chips=16,
            cards=network_cards(16, max_interfaces=2, gbps=200),
            ipv4_per_interface=50,
            nvme=(4, 1900),
            purchase_options=(ON_DEMAND, CAPACITY_BLOCK),
            ultraserver=("u-trn2x64", 4),
            notes="Chips: DescribeInstanceTypes lists none; the Neuron documentation says 16, as in trn2.48xlarge. "
            "A Capacity Block is bought by UltraServer type and count: field reports of 2026-10-03 show that the "
            "instance type is refused. No on-demand price is published.",
            zone_ids="aps2-az1 aps2-az2 aps2-az3",
        ),
    ),
    peaks={
        "Trainium2": peak_tflops(
            1299,
            667,
            181,
            tf32=667,
            source="Neuron documentation 2.29, Trainium2 architecture; sparse figures left out",
        )
    },
    block_quotas={"trn2": BlockQuota(family="Trn2", code="L-64569A79")},
    ultraserver_regions={"u-trn2x64": ("us-east-2",)},
)
"""The family, with everything that is known about each of its instance types."""
