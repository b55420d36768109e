"""Trn1 and Trn1n: Trainium."""

from decimal import Decimal
from functools import partial
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK, ON_DEMAND, SPOT, network_cards
from ultracluster_catalog.machines.machine import (
    BlockQuotaCodes,
    Machine,
    MachineFamily,
    block_sales,
    known_type,
    peak_tflops,
    spot_range,
    zone_ids,
)

_trn1 = partial(
    known_type,
    accelerator="Trainium",
    device_memory_gib=32,
    cores_per_chip=2,
    nitro_generation=4,
)

TRN1: Final = MachineFamily(
    machines=(
        Machine(
            instance_type=_trn1(
                "trn1.2xlarge",
                vcpus=8,
                memory_gib=32,
                chips=1,
                cards=network_cards(1, max_interfaces=4, gbps=12.5, efa=False),
                ipv4_per_interface=15,
                nvme=(1, 474),
                purchase_options=(ON_DEMAND, SPOT),
            ),
            zone_ids=zone_ids("use1-az5 use1-az6 use2-az3 usw2-az1 usw2-az4"),
            on_demand_usd={"us-east-1": Decimal("1.34375")},
            spot={"us-east-2": spot_range("0.1344", "0.1344", "seen once")},
            sagemaker_training=True,
        ),
        Machine(
            instance_type=_trn1(
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
            ),
            zone_ids=zone_ids(
                "aps1-az2 apse2-az1 apse2-az2 apse4-az1 use1-az4 use1-az5 use1-az6 use2-az3 usw2-az1 usw2-az4"
            ),
            blocks=block_sales(
                ("us-east-1 us-east-2 us-west-2 eu-north-1 ap-south-1 ap-southeast-2 ap-southeast-4"),
                usd_per_hour={
                    "9.532": (
                        "us-east-1 us-east-2 us-west-2 eu-north-1 ap-south-1 ap-southeast-2 ap-southeast-4"
                    )
                },
            ),
            on_demand_usd={"us-east-1": Decimal("21.50")},
            spot={"us-east-2": spot_range("2.15", "2.15", "seen once")},
            sagemaker_training=True,
            training_plans=True,
        ),
        Machine(
            instance_type=_trn1(
                "trn1n.32xlarge",
                vcpus=128,
                memory_gib=512,
                chips=16,
                cards=network_cards(16, max_interfaces=5, gbps=100),
                ipv4_per_interface=50,
                nvme=(4, 1900),
                purchase_options=(ON_DEMAND, SPOT),
                efa_generation=2,
            ),
            zone_ids=zone_ids("use1-az6 use2-az3 usw2-az4"),
            on_demand_usd={"us-east-1": Decimal("24.78")},
            sagemaker_training=True,
        ),
    ),
    peaks={
        "Trainium": peak_tflops(
            190, 190, 47.5, tf32=190, source="Neuron documentation, Trainium architecture"
        )
    },
    block_quotas={"trn1": BlockQuotaCodes(family="Trn1", account="L-2E30FD7D", organization="L-C4947F9A")},
)
"""The family, with everything that is known about each of its instance types."""
