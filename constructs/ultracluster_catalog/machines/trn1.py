"""Trn1 and Trn1n: Trainium."""

from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND, SPOT, network_cards
from ultracluster_catalog.machines.machine import BlockQuota, MachineFamily, describe_machine, peak_tflops

_trn1 = partial(
    describe_machine,
    accelerator="Trainium",
    device_memory_gib=32,
    cores_per_chip=2,
    nitro_generation=4,
    sagemaker_training=True,
)

TRN1: Final = MachineFamily(
    machines=(
        _trn1(
            "trn1.2xlarge",
            vcpus=8,
            memory_gib=32,
            chips=1,
            cards=network_cards(1, max_interfaces=4, gbps=12.5, efa=False),
            ipv4_per_interface=15,
            nvme=(1, 474),
            purchase_options=(ON_DEMAND, SPOT),
            zone_ids="use1-az5 use1-az6 use2-az3 usw2-az1 usw2-az4",
        ),
        _trn1(
            "trn1.32xlarge",
            vcpus=128,
            memory_gib=512,
            chips=16,
            cards=network_cards(8, max_interfaces=5, gbps=100),
            ipv4_per_interface=50,
            nvme=(4, 1900),
            purchase_options=(ON_DEMAND, SPOT, CAPACITY_BLOCK),
            efa_generation=2,
            measured_container_memory_mib=507_821,
            zone_ids=(
                "aps1-az2 apse2-az1 apse2-az2 apse4-az1 use1-az4 use1-az5 use1-az6 use2-az3 usw2-az1 usw2-az4"
            ),
            block_regions="us-east-1 us-east-2 us-west-2 eu-north-1 ap-south-1 ap-southeast-2 ap-southeast-4",
            training_plans=True,
        ),
        _trn1(
            "trn1n.32xlarge",
            vcpus=128,
            memory_gib=512,
            chips=16,
            cards=network_cards(16, max_interfaces=5, gbps=100),
            ipv4_per_interface=50,
            nvme=(4, 1900),
            purchase_options=(ON_DEMAND, SPOT),
            efa_generation=2,
            zone_ids="use1-az6 use2-az3 usw2-az4",
        ),
    ),
    peaks={
        "Trainium": peak_tflops(
            190, 190, 47.5, tf32=190, source="Neuron documentation, Trainium architecture"
        )
    },
    block_quotas={"trn1": BlockQuota(family="Trn1", code="L-2E30FD7D")},
)
"""The family, with everything that is known about each of its instance types."""
