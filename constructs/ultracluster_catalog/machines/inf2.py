"""Inf2: Inferentia2."""

from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_type import ON_DEMAND, SPOT, network_cards
from ultracluster_catalog.machines.machine import MachineFamily, describe_machine, peak_tflops

_inf2 = partial(
    describe_machine,
    accelerator="Inferentia2",
    device_memory_gib=32,
    cores_per_chip=2,
    purchase_options=(ON_DEMAND, SPOT),
    nitro_generation=4,
)

# Of all but the smallest type.
_ZONE_IDS: Final = (
    "apne1-az1 apne1-az4 aps1-az1 aps1-az3 apse1-az2 apse1-az3 apse2-az1 apse2-az3 "
    "euc1-az2 euc1-az3 eun1-az1 eun1-az2 euw1-az1 euw1-az2 euw1-az3 euw2-az2 euw3-az2 "
    "euw3-az3 sae1-az3 use1-az2 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 "
    "usw2-az1 usw2-az2 usw2-az3 usw2-az4"
)

INF2: Final = MachineFamily(
    machines=(
        _inf2(
            "inf2.xlarge",
            vcpus=4,
            memory_gib=16,
            chips=1,
            cards=network_cards(1, max_interfaces=4, gbps=15, efa=False),
            ipv4_per_interface=15,
            zone_ids=(
                "apne1-az1 apne1-az4 apne2-az1 apne2-az2 apne2-az3 aps1-az1 aps1-az3 apse1-az2 apse1-az3 "
                "apse2-az1 apse2-az3 euc1-az2 euc1-az3 eun1-az1 eun1-az2 euw1-az1 euw1-az2 euw1-az3 euw2-az2 "
                "euw3-az2 euw3-az3 sae1-az3 use1-az2 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 "
                "usw2-az1 usw2-az2 usw2-az3 usw2-az4"
            ),
        ),
        _inf2(
            "inf2.8xlarge",
            vcpus=32,
            memory_gib=128,
            chips=1,
            cards=network_cards(1, max_interfaces=8, gbps=25, efa=False),
            ipv4_per_interface=30,
            zone_ids=_ZONE_IDS,
        ),
        _inf2(
            "inf2.24xlarge",
            vcpus=96,
            memory_gib=384,
            chips=6,
            cards=network_cards(1, max_interfaces=15, gbps=50, efa=False),
            ipv4_per_interface=50,
            zone_ids=_ZONE_IDS,
        ),
        _inf2(
            "inf2.48xlarge",
            vcpus=192,
            memory_gib=768,
            chips=12,
            cards=network_cards(1, max_interfaces=15, gbps=100, efa=False),
            ipv4_per_interface=50,
            zone_ids=_ZONE_IDS,
        ),
    ),
    peaks={
        "Inferentia2": peak_tflops(
            190, 190, 47.5, tf32=190, source="Neuron documentation, Inferentia2 architecture"
        )
    },
)
"""The family, with everything that is known about each of its instance types."""
